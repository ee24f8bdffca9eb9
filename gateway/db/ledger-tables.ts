/** Types of the tables beside the ledger, for Kysely: credit at risk, and how far the ledger is checked. */
import type { Generated } from 'kysely'

export type CreditAtRiskTable = {
  store_id: bigint
  usd_cents: bigint
  /** Only ever counts up. */
  promised_usd_cents: Generated<bigint>
}

export type LostCreditTable = {
  trade_id: bigint
  store_id: bigint
  usd_cents: bigint
  until: Date
}

export type LedgerCheckTable = {
  only_row: Generated<boolean>
  taken_until: Date | null
  begun_at: Date | null
  complete_at: Date | null
  differences: Generated<number>
  verified_entry: Generated<bigint>
}

export type VerifiedBalanceTable = {
  account_id: bigint
  balance: bigint
}
