import { sql } from 'kysely'
import { MOVEMENT_CAUSES } from '../../contract/money.ts'
import type { Balances, Statement, StatementQuery } from '../../contract/store-api.ts'
import type { Db } from '../db/client.ts'
import type { EntryCause } from '../db/schema.ts'
import { keysetPage } from '../kit/keyset-page.ts'
import { balancesOf } from '../ledger/store.ts'

/** Returns held, available and reversed amounts by currency, in minor units. */
export async function readBalances(db: Db, storeId: bigint): Promise<Balances> {
  const balances = await balancesOf(db, storeId)
  const totals = await db
    .selectFrom('reversed_total')
    .select(['currency', 'amount'])
    .where('store_id', '=', storeId)
    .execute()
  const reversed = new Map(totals.map((row) => [row.currency, Number(row.amount)]))
  return {
    balances: balances.map(({ currency, held, available }) => ({
      currency,
      held: Number(held),
      available: Number(available),
      reversed: reversed.get(currency) ?? 0,
    })),
  }
}

type Row = {
  id: bigint
  at: Date
  cause: EntryCause
  deposit_id: bigint | null
  reference: string | null
  held: bigint
  available: bigint
}

type MovementCause = (typeof MOVEMENT_CAUSES)[number]

export const isMovement = (cause: EntryCause): cause is MovementCause =>
  (MOVEMENT_CAUSES as readonly EntryCause[]).includes(cause)

/** Returns movements of a store's two accounts in a currency, and reversals that cost it no money, newest first. */
export async function readStatement(db: Db, storeId: bigint, query: StatementQuery): Promise<Statement> {
  const { rows, next } = await keysetPage(query, (page) => statementRows(db, storeId, page), 'id')
  const movements = rows.flatMap(({ cause, ...row }) =>
    isMovement(cause)
      ? [
          {
            id: String(row.id),
            at: row.at.toISOString(),
            cause,
            depositId: row.deposit_id === null ? null : String(row.deposit_id),
            payoutReference: row.reference,
            held: Number(row.held),
            available: Number(row.available),
          },
        ]
      : [],
  )
  return { movements, next: next === null ? null : String(next) }
}

async function statementRows(
  db: Db,
  storeId: bigint,
  { currency, after, limit }: StatementQuery,
): Promise<Row[]> {
  // Newest first: the next page has the smaller ids.
  const beforeId = after === undefined ? null : BigInt(after)
  // The range, and the order by account and id, make the planner use the index on these two columns. With "=", it may
  // scan all entries by id to find those of an account that has few.
  const side = (column: 'debit_account' | 'credit_account') => sql`
    select entry.* from account, lateral (
      select * from ledger_entry
      where ${sql.ref(column)} between account.id and account.id and (${beforeId}::bigint is null or ledger_entry.id < ${beforeId})
      order by ${sql.ref(column)}, ledger_entry.id desc limit ${limit}
    ) entry
    where account.store_id = ${storeId} and account.currency = ${currency}`
  // The operator bore these reversals, so no account of the store has them. `offset 0` makes the query start from the
  // few deposits with such a reversal. The planner overestimates their number, and would otherwise read every entry.
  const covered = sql`
    select entry.* from deposit,
      lateral (select id from trade where trade.deposit_id = deposit.id offset 0) paid,
      lateral (select * from ledger_entry where trade_id = paid.id and cause = 'reversed' offset 0) entry
    join account bearer on bearer.id = entry.debit_account and bearer.kind = 'loss'
    where deposit.store_id = ${storeId} and deposit.currency = ${currency}
      and deposit.reversed_amount > deposit.charged_amount and (${beforeId}::bigint is null or entry.id < ${beforeId})
      and not exists (
        select from ledger_entry other join account on account.id = other.debit_account and account.store_id is not null
        where other.trade_id = entry.trade_id and other.cause = 'reversed' and other.part = entry.part)
    order by entry.id desc limit ${limit}`
  const { rows } = await sql<Row>`
    select entry.id, entry.created_at as at, entry.cause, trade.deposit_id,
      coalesce(payout.reference, adjustment.reference) as reference,
      (case when credit.store_id is not null and credit.kind = 'held' then entry.amount else 0 end
        - case when debit.store_id is not null and debit.kind = 'held' then entry.amount else 0 end) as held,
      (case when credit.store_id is not null and credit.kind = 'available' then entry.amount else 0 end
        - case when debit.store_id is not null and debit.kind = 'available' then entry.amount else 0 end) as available
    from (
      select * from (${side('debit_account')} union ${side('credit_account')} union (${covered})) moved
      order by id desc limit ${limit}
    ) entry
    join account debit on debit.id = entry.debit_account
    join account credit on credit.id = entry.credit_account
    left join trade on trade.id = entry.trade_id
    left join payout on payout.id = entry.payout_id
    left join adjustment on adjustment.id = entry.adjustment_id
    order by entry.id desc`.execute(db)
  return rows
}

/** Whether the store's statement in the currency has a movement with this id. */
export async function isMovementOf(
  db: Db,
  storeId: bigint,
  { currency, id }: { currency: StatementQuery['currency']; id: string },
): Promise<boolean> {
  const after = String(BigInt(id) + 1n)
  const { movements } = await readStatement(db, storeId, { currency, after, limit: 1 })
  return movements[0]?.id === id
}
