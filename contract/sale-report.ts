/** How a sale goes on, as its seller learns it of Steam or of the market. Amounts are minor units. */
export type SaleReport =
  | { kind: 'repriced'; price: bigint }
  | { kind: 'unlisted' }
  | { kind: 'sold' }
  /** Nothing was given: what the market asked for was not what was listed. */
  | { kind: 'refused' }
  /** Proved by Steam's record of the trade. */
  | { kind: 'delivered'; steamTradeId: string }
  | { kind: 'settling'; received: bigint; settlesAt: Date }
  | { kind: 'paid'; received: bigint }
  | { kind: 'cancelled' }
  | { kind: 'reversed'; causer: 'buyer' | 'seller' | 'unknown'; refund: bigint }
