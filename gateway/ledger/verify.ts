/** Runs verify.sql, which checks the ledger without sharing code with its writer. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import { withStatementDeadline } from '../db/connections.ts'

export type Difference = { problem: string; detail: string }

const SQL = readFileSync(join(import.meta.dirname, 'verify.sql'), 'utf8')
/** The comment in verify.sql that begins its second part. */
const MARK = '-- From here on'
/** The longest time that a statement may run, and so hold up vacuum. */
const DEADLINE_MS = 120_000
/** The client waits this much longer than the server's deadline. */
const SILENCE_MS = 5_000
const DEPOSITS_AT_A_TIME = 5_000
const MOST_FOUND = 1_000

/**
 * The definitions of verify.sql, without the `with` before them, and its first checks. Each of these examines one trade
 * or deposit with everything that belongs to it.
 */
const DEFINITIONS_AND_TRADE_CHECKS = SQL.slice(SQL.indexOf('entry as ('), SQL.indexOf(MARK))
/** The definitions of verify.sql, with the `with` before them. */
const DEFINITIONS = SQL.slice(0, SQL.indexOf('-- Entries'))
/** The other checks of verify.sql, which need all rows: one statement each. */
const CHECKS_OF_ALL = SQL.slice(SQL.indexOf('union all', SQL.indexOf(MARK)), SQL.lastIndexOf('limit'))
  .split(/^union all$/m)
  .filter((check) => check.trim() !== '')
  .map((check) => `${DEFINITIONS} select * from (${check}) found (problem, detail) limit ${MOST_FOUND}`)

/**
 * One statement with all trade checks, for these deposits and everything that belongs to them. Both arguments are queries:
 * `loose` selects entries that belong to no trade.
 */
export const tradeChecksOf = ({ deposits, loose }: { deposits: string; loose: string }): string => `
with scope as materialized (select array(${deposits}) as deposits),
trade as materialized (select * from public.trade where deposit_id = any((select deposits from scope)::bigint[])),
ids as materialized (select array(select id from trade) as trades),
deposit as (select * from public.deposit where id = any((select deposits from scope)::bigint[])),
trade_item as (select * from public.trade_item where trade_id = any((select trades from ids)::bigint[])),
custody_entry as (select * from public.custody_entry where trade_id = any((select trades from ids)::bigint[])),
ledger_entry as (
  select * from public.ledger_entry where trade_id = any((select trades from ids)::bigint[])
  union all ${loose}
),
${DEFINITIONS_AND_TRADE_CHECKS} limit ${MOST_FOUND}`

/** The first batch also has the entries of payouts and adjustments, which belong to no deposit. */
const CHECKS_OF_BATCH = tradeChecksOf({
  deposits: 'select id from public.deposit where id > $1 and id <= $2',
  loose: 'select * from public.ledger_entry where trade_id is null and $1::bigint = 0',
})

/** Returns the differences, at most 1,000. Throws if the database does not answer. */
export async function verifyLedger(pool: Pick<pg.Pool, 'connect'>): Promise<Difference[]> {
  const client = await pool.connect()
  try {
    const differences = await differencesOfAll(client)
    client.release()
    return differences
  } catch (error) {
    client.release(true)
    throw error
  }
}

type Client = Pick<pg.PoolClient, 'query'>

/**
 * Runs many statements, each with its own snapshot: what a check compares is always read by one statement.
 * `afterEach` is called after each statement.
 */
export async function differencesOfAll(
  client: Client,
  afterEach: () => Promise<void> = async () => {},
): Promise<Difference[]> {
  const differences: Difference[] = []
  const ask = async (statement: string, values: string[] = []) => {
    const rows = await onSnapshot(
      client,
      DEADLINE_MS,
      async () => (await client.query<Difference>(statement, values)).rows,
    )
    differences.push(...rows)
    await afterEach()
  }
  let from = '0'
  for (;;) {
    const to = await lastOfNextBatch(client, from)
    if (to !== undefined || from === '0') await ask(CHECKS_OF_BATCH, [from, to ?? '0'])
    if (to === undefined || differences.length >= MOST_FOUND) break
    from = to
  }
  for (const check of CHECKS_OF_ALL) {
    if (differences.length < MOST_FOUND) await ask(check)
  }
  return differences.slice(0, MOST_FOUND)
}

/** The last deposit of the next batch; undefined if there is none. */
async function lastOfNextBatch(client: Client, from: string): Promise<string | undefined> {
  const { rows } = await client.query<{ id: string | null }>(
    `select max(id)::text as id from (
      select id from deposit where id > $1 order by id limit ${DEPOSITS_AT_A_TIME}) next`,
    [from],
  )
  return rows[0]?.id ?? undefined
}

/** A failure leaves the transaction open, so the caller must discard the connection. */
export async function onSnapshot<T>(client: Client, deadlineMs: number, work: () => Promise<T>): Promise<T> {
  await client.query('begin isolation level repeatable read read only')
  await client.query(`set local statement_timeout = ${deadlineMs}`)
  const result = await withStatementDeadline(client, deadlineMs + SILENCE_MS, work)
  await client.query('commit')
  return result
}

export async function countEntries(pool: Pick<pg.Pool, 'query'>): Promise<number> {
  const { rows } = await pool.query<{ entries: string }>('select count(*)::text as entries from ledger_entry')
  return Number(rows[0]?.entries ?? 0)
}
