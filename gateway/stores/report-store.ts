/** The movements of a store, or of all stores, in a period, summed by day or month, cause and currency. */
import { type RawBuilder, sql } from 'kysely'
import type { Currency } from '../../contract/money.ts'
import type { Report } from '../../contract/report.ts'
import type { Db } from '../db/client.ts'
import type { AccountKind, EntryCause } from '../db/schema.ts'
import { isMovement } from './balance-store.ts'

type Period = { from: Date; to: Date; by: 'day' | 'month' }
/** `storeId`: null for all stores. */
export type ReportFilter = Period & { storeId: bigint | null }

export type ReportRow = {
  /** Day, or first day of the month, in UTC. */
  begins: string
  currency: Currency
  cause: EntryCause
  movements: number
  heldMinor: bigint
  availableMinor: bigint
  /** The operator's commission on the delivered trades; null for causes other than `delivered`. */
  commissionMinor: bigint | null
}

const accountsOf = (storeId: bigint | null): RawBuilder<unknown> =>
  storeId === null ? sql`account.store_id is not null` : sql`account.store_id = ${storeId}`

/** The movements of the accounts in the period, one row for each account that an entry changed. */
function movedIn({ storeId, from, to }: ReportFilter): RawBuilder<unknown> {
  const side = (column: 'debit_account' | 'credit_account', sign: 1 | -1) => sql`
    select entry.id, entry.created_at, entry.currency, entry.cause, entry.trade_id, account.kind, ${sign}::int * entry.amount as amount
    from account join ledger_entry entry on entry.${sql.ref(column)} = account.id
    where ${accountsOf(storeId)} and entry.created_at >= ${from} and entry.created_at < ${to}`
  return sql`${side('credit_account', 1)} union all ${side('debit_account', -1)}`
}

/** The sums of the rows of `moved`. */
const sumsOf = (moved: RawBuilder<unknown>, by: Period['by']): RawBuilder<unknown> => sql`
  select date_trunc(${by}, created_at at time zone 'UTC') as begins, currency, cause, count(distinct id)::int as movements,
    coalesce(sum(amount) filter (where kind = 'held'), 0)::bigint as "heldMinor",
    coalesce(sum(amount) filter (where kind = 'available'), 0)::bigint as "availableMinor"
  from ${moved} group by 1, 2, 3`

/** Reads the report. `from` is inclusive, `to` is exclusive. */
export async function readReport(db: Db, filter: ReportFilter): Promise<ReportRow[]> {
  const { rows } = await sql<ReportRow>`
    with moved as (${movedIn(filter)}),
    commissions as (
      select date_trunc(${filter.by}, delivery.created_at at time zone 'UTC') as begins, delivery.currency, sum(trade.gross_total - trade.total) as commission
      from (select distinct on (trade_id) trade_id, created_at, currency from moved where cause = 'delivered'
        order by trade_id, id) delivery
      join trade on trade.id = delivery.trade_id group by 1, 2
    )
    select to_char(begins, 'YYYY-MM-DD') as begins, currency, cause, movements, "heldMinor", "availableMinor",
      case when cause = 'delivered' then commission::bigint end as "commissionMinor"
    from (${sumsOf(sql`moved`, filter.by)}) summed left join commissions using (begins, currency)
    order by begins, currency, cause`.execute(db)
  return rows
}

/** Returns a store's movements by day, without the operator's commission. `before` is exclusive. */
export async function readDays(
  db: Db,
  storeId: bigint,
  { from, before }: { from: Date; before: Date },
): Promise<Report['days']> {
  const moved = sql`(${movedIn({ storeId, from, to: before, by: 'day' })}) moved`
  const { rows } = await sql<Omit<ReportRow, 'commissionMinor'>>`
    select to_char(begins, 'YYYY-MM-DD') as begins, currency, cause, movements, "heldMinor", "availableMinor"
    from (${sumsOf(moved, 'day')}) summed order by begins, currency, cause`.execute(db)
  return rows.flatMap(({ begins, currency, cause, movements, heldMinor, availableMinor }) =>
    isMovement(cause)
      ? [
          {
            day: begins,
            currency,
            cause,
            movements,
            held: Number(heldMinor),
            available: Number(availableMinor),
          },
        ]
      : [],
  )
}

export type BalanceAt = { currency: Currency; heldMinor: bigint; availableMinor: bigint }

export type OwnRow = { begins: string; currency: Currency; kind: AccountKind; amountMinor: bigint }

/** How the operator's own accounts changed in a period: credits less debits. */
export async function readOwnChanges(db: Db, { from, to, by }: Period): Promise<OwnRow[]> {
  const side = (column: 'debit_account' | 'credit_account', sign: 1 | -1) => sql`
    select entry.created_at, account.currency, account.kind, ${sign}::int * entry.amount as amount
    from account join ledger_entry entry on entry.${sql.ref(column)} = account.id
    where account.store_id is null and entry.created_at >= ${from} and entry.created_at < ${to}`
  const { rows } = await sql<OwnRow>`
    select to_char(date_trunc(${by}, created_at at time zone 'UTC'), 'YYYY-MM-DD') as begins, currency, kind,
      sum(amount)::bigint as "amountMinor"
    from (${side('credit_account', 1)} union all ${side('debit_account', -1)}) moved
    group by 1, 2, 3 order by 1, 2, 3`.execute(db)
  return rows
}

/** Returns the balances of a store, or of all stores, just before a time: the current ones less all movements since. */
export async function balancesAt(db: Db, storeId: bigint | null, at: Date): Promise<BalanceAt[]> {
  const { rows } = await sql<BalanceAt>`
    select currency, coalesce(sum(was) filter (where kind = 'held'), 0)::bigint as "heldMinor",
      coalesce(sum(was) filter (where kind = 'available'), 0)::bigint as "availableMinor"
    from (
      select account.currency, account.kind, account.balance
        - coalesce((select sum(amount) from ledger_entry where credit_account = account.id and created_at >= ${at}), 0)
        + coalesce((select sum(amount) from ledger_entry where debit_account = account.id and created_at >= ${at}), 0) as was
      from account where ${accountsOf(storeId)}
    ) past group by currency order by currency`.execute(db)
  return rows
}
