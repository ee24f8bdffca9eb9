/** The progress of a sale, as its seller learns it from Steam or the market. Amounts are minor units. */
export type SaleReport =
  | { kind: 'repriced'; price: bigint }
  | { kind: 'unlisted' }
  | { kind: 'sold' }
  /** Nothing was given: the market asked for something other than the listed item. */
  | { kind: 'refused' }
  /** Proved by Steam's record of the trade. */
  | { kind: 'delivered'; steamTradeId: string }
  | { kind: 'settling'; received: bigint; settlesAt: Date }
  | { kind: 'paid'; received: bigint }
  | { kind: 'cancelled' }
  | { kind: 'reversed'; causer: 'buyer' | 'seller' | 'unknown'; refund: bigint }
