import type { Generated } from 'kysely'
import type { Currency } from '../../contract/money.ts'

export type SaleState =
  | 'listed'
  /** A buyer has bought the item, and waits for it. */
  | 'sold'
  /** The item was given to the buyer. The market has not yet said what it pays. */
  | 'delivered'
  /** The market holds the payment back while the buyer could still take the trade back. */
  | 'settling'
  | 'paid'
  /**
   * Nothing was given: the market asked for something other than the listed item. The vault of this version never
   * reports it.
   */
  | 'refused'
  | 'cancelled'
  /** The item was given, but another report says that the sale failed. Only the lists of sales show this: no alarm. */
  | 'late'
  /** The trade with the buyer was taken back. */
  | 'reversed'

/** One listing of an item on a market, and its result. */
export type SaleTable = {
  id: Generated<bigint>
  market: string
  /** The market's number of the listing, or the operator's reference of a sale recorded by hand. */
  reference: string
  /** The trade that brought the item, and the item's asset id in the shopper's inventory. */
  trade_id: bigint
  asset_id: string
  app_id: number
  /** The item's asset id in the inventory of the selling account; null if only the operator knows it. */
  listed_asset_id: string | null
  state: SaleState
  currency: Currency
  price: bigint
  /** The amount that the market pays for the item; null until the market has reported it. */
  received: bigint | null
  /** The amount that the market paid although the sale was reversed. */
  refund: Generated<bigint>
  /** The side that caused a reversal. */
  causer: 'buyer' | 'seller' | 'unknown' | null
  steam_trade_id: string | null
  /** True if an operator recorded the sale. */
  by_hand: Generated<boolean>
  listed_at: Date
  sold_at: Date | null
  settles_at: Date | null
  ended_at: Date | null
  /** How many times the sale was saved. */
  steps: Generated<number>
}

export type MarketAccountKind =
  /** Money of sales that the market still holds back. */
  | 'settling'
  /** Money of sales that the market has released. */
  | 'free'
  /** The market's share of the prices. */
  | 'fees'
  /** The prices of the sold items, and the refunds of reversed sales. */
  | 'sales'

/** An account in the books of a market. `balance`: credits minus debits, so money that the market owes is negative. */
export type MarketAccountTable = {
  id: Generated<bigint>
  market: string
  kind: MarketAccountKind
  currency: Currency
  balance: Generated<bigint>
}

export type MarketEntryTable = {
  id: Generated<bigint>
  sale_id: bigint
  /** Which save of the sale wrote the entry: 1, 2, 3 … */
  step: number
  debit_account: bigint
  credit_account: bigint
  amount: bigint
  created_at: Generated<Date>
}

/** The amounts that a market owes, as it reported them at `said_at`. */
export type MarketBalanceTable = {
  market: string
  currency: Currency
  settling: bigint
  free: bigint
  said_at: Date
}

/** A report from an entry of the vault's log, as the vault wrote it (`told`), with the till's answer. */
export type VaultToldTable = {
  /** The number of the entry in the log. */
  n: bigint
  /** The number of the report within its entry. */
  part: number
  at: Date
  market: string
  reference: string
  told: unknown
  answer: EntryAnswer | null
  answered_at: Date | null
}

/** The till's verdict on a report of the vault: of a listing, of a gift, or of what happened to a sale. */
export type EntryAnswer =
  /** The till recorded a listing, or the vault's report that it gives an item. */
  | 'recorded'
  /** The listing is already recorded. */
  | 'known'
  /** No bot has, or ever gave, the listed item. */
  | 'not_ours'
  /** The shopper can still take the listed item back, or did. */
  | 'not_free'
  /** The listed item is on sale, or was sold, elsewhere. */
  | 'taken'
  /** A report changed its sale. */
  | 'changed'
  /** A report changed nothing: it came twice or too late, or its amount cannot be right. */
  | 'unchanged'
  /** The report belongs to no sale. */
  | 'unknown'
  /** The entry does not have the form that the till expects. */
  | 'unreadable'

/** A market that an operator has switched off. */
export type MarketOffTable = { market: string; since: Generated<Date> }
