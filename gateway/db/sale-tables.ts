/** Types of the tables of sales and their books, for Kysely. */
import type { Generated } from 'kysely'
import type { Currency } from '../../contract/money.ts'

export type SaleState =
  | 'listed'
  | 'sold'
  | 'delivered'
  | 'settling'
  | 'paid'
  | 'refused'
  | 'cancelled'
  | 'late'
  | 'reversed'

export type SaleTable = {
  id: Generated<bigint>
  market: string
  reference: string
  trade_id: bigint
  asset_id: string
  app_id: number
  listed_asset_id: string | null
  state: SaleState
  currency: Currency
  price: bigint
  received: bigint | null
  refund: Generated<bigint>
  causer: 'buyer' | 'seller' | 'unknown' | null
  steam_trade_id: string | null
  by_hand: Generated<boolean>
  listed_at: Date
  sold_at: Date | null
  settles_at: Date | null
  ended_at: Date | null
  steps: Generated<number>
}

export type MarketAccountKind = 'settling' | 'free' | 'fees' | 'sales'

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

/** An entry of the vault's log, as the vault reported it in `told`, with the till's answer. */
export type VaultToldTable = {
  n: bigint
  part: number
  at: Date
  market: string
  reference: string
  told: unknown
  answer: EntryAnswer | null
  answered_at: Date | null
}

/** The till's verdict on an entry of the vault's log. */
export type EntryAnswer =
  | 'recorded'
  | 'known'
  | 'not_ours'
  | 'not_free'
  | 'taken'
  | 'changed'
  | 'unchanged'
  | 'unknown'
  | 'unreadable'

export type MarketOffTable = { market: string; since: Generated<Date> }
