import type { Generated } from 'kysely'
import type { Currency } from '../../contract/money.ts'

export type CreditAtRiskTable = {
  store_id: bigint
  usd_cents: bigint
  /**
   * The running total of the most that each of the store's trades could promise (`ledger/promise-store.ts`), so usually
   * more than they promised. It never falls. So if it has grown since a delivery read it, a promise was made meanwhile.
   */
  promised_usd_cents: Generated<bigint>
}

/** Available credit that reversals of a trade took. It counts against the store's limit until `until`. */
export type LostCreditTable = {
  trade_id: bigint
  store_id: bigint
  usd_cents: bigint
  until: Date
}

/**
 * How far the ledger is checked. `taken_until`: a process has taken the check, and until then others leave it alone.
 * `begun_at` and `complete_at`: when a complete check last began, and when one last ended.
 */
export type LedgerCheckTable = {
  only_row: Generated<boolean>
  taken_until: Date | null
  begun_at: Date | null
  complete_at: Date | null
  differences: Generated<number>
  verified_entry: Generated<bigint>
}

/** The balance of an account after the entries up to `verified_entry`. */
export type VerifiedBalanceTable = {
  account_id: bigint
  balance: bigint
}

export type PayoutTable = {
  id: Generated<bigint>
  store_id: bigint
  currency: Currency
  amount: bigint
  reference: string
  created_at: Date
}

/** A payout that did not happen. */
export type PayoutVoidTable = { payout_id: bigint; created_at: Date }

export type AdjustmentTable = {
  id: Generated<bigint>
  store_id: bigint
  currency: Currency
  /** `AdjustmentKind` in ledger/entry.ts. */
  kind: 'credit' | 'debit' | 'write_off'
  amount: bigint
  reference: string
  created_at: Date
}
