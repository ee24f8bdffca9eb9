/** The progress of a sale, as the vault reports it to the till. Amounts are minor units. */
export type SaleReport =
  /** The listing has a new price. */
  | { kind: 'repriced'; price: bigint }
  /** The item is no longer for sale. */
  | { kind: 'unlisted' }
  /** There is a buyer. */
  | { kind: 'sold' }
  /**
   * Nothing was given: the market asked for something other than the listed item. The vault of this version never
   * reports it.
   */
  | { kind: 'refused' }
  /** The buyer has the item, as Steam's record of the trade proves. */
  | { kind: 'delivered'; steamTradeId: string }
  /** The market holds the money until `settlesAt`. `received`: what it pays. */
  | { kind: 'settling'; received: bigint; settlesAt: Date }
  /** The market has released the money. */
  | { kind: 'paid'; received: bigint }
  /** The sale fell through: the market pays nothing. */
  | { kind: 'cancelled' }
  /** The given item went back. `causer`: the side that took it back; `refund`: what the market pays nevertheless. */
  | { kind: 'reversed'; causer: 'buyer' | 'seller' | 'unknown'; refund: bigint }

type MoneyKind = Extract<SaleReport['kind'], 'settling' | 'paid' | 'cancelled' | 'reversed'>

/**
 * True if what a market says now about the money of a sale replaces `earlier`: what the market last said about it, or
 * the state of the sale. Money that was paid changes only by a reversal, and a reversal never changes. The vault's
 * record and the till's books follow this rule, so they show the same money.
 */
export const mayFollow = (earlier: string | null, news: MoneyKind): boolean =>
  earlier !== 'reversed' && (earlier !== 'paid' || news === 'reversed')

/** True if a market can pay or refund this amount for an item that was sold at this price. */
export const isPayable = (amount: bigint, price: bigint): boolean => amount >= 0n && amount <= price
