/** The progress of a sale, as Steam or the market reports it to the seller. Amounts are minor units. */
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
