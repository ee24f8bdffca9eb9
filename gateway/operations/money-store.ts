import { sql } from 'kysely'
import type { Currency } from '../../contract/money.ts'
import type { Db } from '../db/client.ts'
import type { AccountKind } from '../db/schema.ts'

export type Money = {
  balances: {
    storeId: bigint
    store: string
    currency: Currency
    heldMinor: bigint
    availableMinor: bigint
  }[]
  /** The operator's side: all accounts without a store. */
  own: { kind: AccountKind; currency: Currency; amountMinor: bigint }[]
  atRisk: { storeId: bigint; store: string; usdMinor: bigint; limitUsdMinor: bigint }[]
  /** There are more stores with money or a limit than `balances` and `atRisk` have. */
  isCut: boolean
  /**
   * `completeAt`: when all entries were checked last. `differences`: how many were found by that check, and in newer
   * entries since. `verifiedEntry`: the last entry that was checked.
   */
  check: { completeAt: Date | null; differences: number; verifiedEntry: bigint } | null
}

/** The most rows of `balances`, in the order of stores, and of `atRisk`, the largest first. */
const MOST_ROWS = 500

export async function readMoney(db: Db): Promise<Money> {
  const { rows: balances } = await sql<Money['balances'][number]>`
    select store.id as "storeId", store.name as store, currency,
      coalesce(sum(balance) filter (where kind = 'held'), 0)::bigint as "heldMinor",
      coalesce(sum(balance) filter (where kind = 'available'), 0)::bigint as "availableMinor"
    from account join store on store.id = account.store_id
    group by store.id, currency order by store.id, currency limit ${MOST_ROWS + 1}`.execute(db)
  const { rows: own } = await sql<Money['own'][number]>`
    select kind, currency, sum(balance)::bigint as "amountMinor" from account where store_id is null
    group by kind, currency order by kind, currency`.execute(db)
  const { rows: atRisk } = await sql<Money['atRisk'][number]>`
    select store.id as "storeId", store.name as store, coalesce(usd_cents, 0)::bigint as "usdMinor",
      risk_limit_usd_cents as "limitUsdMinor"
    from store left join credit_at_risk risk on risk.store_id = store.id
    order by usd_cents desc nulls last, store.id limit ${MOST_ROWS + 1}`.execute(db)
  const { rows: checks } = await sql<NonNullable<Money['check']>>`
    select complete_at as "completeAt", differences, verified_entry as "verifiedEntry" from ledger_check`.execute(
    db,
  )
  return {
    balances: balances.slice(0, MOST_ROWS),
    own,
    atRisk: atRisk.slice(0, MOST_ROWS),
    isCut: balances.length > MOST_ROWS || atRisk.length > MOST_ROWS,
    check: checks[0] ?? null,
  }
}
