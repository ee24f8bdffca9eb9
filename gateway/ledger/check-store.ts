/**
 * Checks the newest entries of the ledger, and records the last checked one. Like verify.sql, this file shares no code
 * with the files that write entries.
 */
import type pg from 'pg'
import { withStatementDeadline } from '../db/connections.ts'
import { settledId } from '../db/settled-store.ts'
import { type Difference, onSnapshot, tradeChecksOf } from './verify.ts'

export type Client = Pick<pg.PoolClient, 'query'>

export type CheckState = {
  /** End of the last complete check, in seconds since 1970. */
  completeAtS: number | null
  /** A later complete check has begun and not ended, or the last one has a time from before the clock was set back. */
  isIncomplete: boolean
  /** How many were found by the last complete check, and in newer entries since. */
  differences: number
  /** The last entry that was checked. */
  verifiedEntry: string
  isCompleteDue: boolean
}

/** The claim of a process that was killed during a check ends after this time. */
const CLAIM = `taken_until = now() + interval '10 minutes'`
const COMPLETE_EVERY = '24 hours'
/** A failed complete check begins again after this time. */
const COMPLETE_RETRY_AFTER = '1 hour'
/**
 * A stored time further ahead than this is from before the database's clock was set back. This is longer than a
 * claim lasts, because the end of a claim is stored too.
 */
const AHEAD = '20 minutes'
const ENTRIES_AT_A_TIME = 2_000
/** The most time for summing up the entries, and for checking a part of them. */
const SUMS_DEADLINE_MS = 240_000
const PART_DEADLINE_MS = 30_000
/** The client waits this much longer than the server's deadline. */
const SILENCE_MS = 5_000

const STATE = `extract(epoch from complete_at)::float8 as "completeAtS", differences, verified_entry as "verifiedEntry",
  coalesce(complete_at > now() + interval '${AHEAD}' or begun_at > coalesce(complete_at, '-infinity'), false)
    as "isIncomplete",
  coalesce(complete_at not between now() - interval '${COMPLETE_EVERY}' and now() + interval '${AHEAD}', true)
    and coalesce(begun_at not between now() - interval '${COMPLETE_RETRY_AFTER}' and now() + interval '${AHEAD}', true)
    as "isCompleteDue"`

/** Claims the check for this process. Resolves to undefined while another process has it. */
export async function takeCheck(client: Client): Promise<CheckState | undefined> {
  const { rows } = await client.query<CheckState>(
    `update ledger_check set ${CLAIM}
    where coalesce(taken_until not between now() and now() + interval '${AHEAD}', true) returning ${STATE}`,
  )
  return rows[0]
}

export async function readCheck(client: Client): Promise<CheckState | undefined> {
  const { rows } = await client.query<CheckState>(`select ${STATE} from ledger_check`)
  return rows[0]
}

/** Renews the claim while a check is running. */
export async function renewCheck(client: Client): Promise<void> {
  await client.query(`update ledger_check set ${CLAIM}`)
}

export async function releaseCheck(client: Client): Promise<void> {
  await client.query('update ledger_check set taken_until = null')
}

export async function beginCompleteCheck(client: Client): Promise<void> {
  await client.query('update ledger_check set begun_at = clock_timestamp()')
}

/**
 * Records a complete check. The next check starts after `verifiedEntry`, which was the `settledEntry` when this check
 * began. Everything is written in one transaction, so the stored sums always match the entries that are marked
 * as checked. If another complete check was asked for meanwhile (`begun_at` is null), it stays due.
 */
export async function endCompleteCheck(
  client: Client,
  verifiedEntry: string,
  differences: number,
): Promise<void> {
  await client.query('begin')
  await client.query(`set local statement_timeout = ${SUMS_DEADLINE_MS}`)
  await client.query(
    `update ledger_check set begun_at = case when begun_at is not null then least(begun_at, clock_timestamp()) end,
      complete_at = case when begun_at is not null then clock_timestamp() end, differences = $2, verified_entry = $1,
      ${CLAIM}`,
    [verifiedEntry, differences],
  )
  await client.query('delete from verified_balance')
  const sum = () =>
    client.query(
      `insert into verified_balance (account_id, balance)
      select account, sum(amount) from (
        select credit_account as account, amount from ledger_entry where id <= $1
        union all select debit_account, -amount from ledger_entry where id <= $1) moved group by account`,
      [verifiedEntry],
    )
  await withStatementDeadline(client, SUMS_DEADLINE_MS + SILENCE_MS, sum)
  await client.query('commit')
}

/**
 * Resolves to the newest entry before which no other can appear. Undefined while a transaction that writes to the
 * ledger stays open.
 */
export const settledEntry = (client: Client): Promise<string | undefined> =>
  settledId((statement) => client.query(statement), 'ledger_entry')

/** The last entry of the next part after `from`; undefined if no entry up to `settled` follows. */
export async function lastOfNextPart(
  client: Client,
  from: string,
  settled: string,
): Promise<string | undefined> {
  const { rows } = await client.query<{ id: string | null }>(
    `select max(id)::text as id from (
      select id from ledger_entry where id > $1 and id <= $2 order by id limit ${ENTRIES_AT_A_TIME}) next`,
    [from, settled],
  )
  return rows[0]?.id ?? undefined
}

/** Checks the entries after `$1` up to `$2`, their deposits, and all trades of these deposits. */
const CHECKS_OF_ENTRIES = tradeChecksOf({
  deposits: `select deposit_id from public.trade where id = any(array(
    select trade_id from public.ledger_entry where id > $1 and id <= $2 and trade_id is not null))`,
  loose: 'select * from public.ledger_entry where id > $1 and id <= $2 and trade_id is null',
})

const BALANCES = `
  select 'a balance is not the sum of its entries' as problem, 'account ' || account.id as detail
  from account left join verified_balance verified on verified.account_id = account.id
  left join (
    select account, sum(amount) from (
      select credit_account as account, amount from ledger_entry where id > $1
      union all select debit_account, -amount from ledger_entry where id > $1) moved group by account
  ) newer on newer.account = account.id
  where account.balance <> coalesce(verified.balance, 0) + coalesce(newer.sum, 0)`

/** Finds differences in the entries after `from` up to `to`, and in the balances of all accounts. */
export function differencesOf(client: Client, from: string, to: string): Promise<Difference[]> {
  return onSnapshot(client, PART_DEADLINE_MS, async () => {
    const { rows } = await client.query<Difference>(CHECKS_OF_ENTRIES, [from, to])
    const { rows: balances } = await client.query<Difference>(BALANCES, [from])
    return [...rows, ...balances]
  })
}

/** Marks the entries as checked, and adds them to the sums. Resolves to false if another process has done so. */
export async function recordVerified(
  client: Client,
  { from, to }: { from: string; to: string },
  differences: number,
): Promise<boolean> {
  const { rows } = await client.query<{ isKept: boolean }>(
    `with kept as (
      update ledger_check set verified_entry = $2, differences = differences + $3,
        ${CLAIM}
      where verified_entry = $1 returning 1
    ),
    summed as (
      insert into verified_balance as verified (account_id, balance)
      select account, sum(amount) from (
        select credit_account as account, amount from ledger_entry where id > $1 and id <= $2
        union all select debit_account, -amount from ledger_entry where id > $1 and id <= $2) moved
      where exists (select from kept) group by account
      on conflict (account_id) do update set balance = verified.balance + excluded.balance
    )
    select exists (select from kept) as "isKept"`,
    [from, to, differences],
  )
  return rows[0]?.isKept ?? false
}
