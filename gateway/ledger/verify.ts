/** Runs verify.sql: a second opinion on the ledger that shares no code with the first. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import { withDeadline } from '../db/lines.ts'

export type Difference = { problem: string; detail: string }

const SQL = readFileSync(join(import.meta.dirname, 'verify.sql'), 'utf8')
const DEADLINE_MS = 300_000
/** How much later this side gives up than the server. */
const SILENCE_MS = 5_000

/** The first part of verify.sql without its "with": it may be asked of some trades and all that belongs to them. */
export const CHECKS_OF_TRADES = `${SQL.slice(SQL.indexOf('entry as ('), SQL.indexOf('-- From here on'))} limit 1000`

/** Every difference found, at most 1,000; on one snapshot of the database. Throws when it cannot be asked. */
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

export function differencesOfAll(client: Client): Promise<Difference[]> {
  return onSnapshot(client, DEADLINE_MS, async () => (await client.query<Difference>(SQL)).rows)
}

/** A failure leaves the transaction open: the caller gives the connection up. */
export async function onSnapshot<T>(client: Client, deadlineMs: number, work: () => Promise<T>): Promise<T> {
  await client.query('begin isolation level repeatable read read only')
  await client.query(`set local statement_timeout = ${deadlineMs}`)
  const found = await withDeadline(client, deadlineMs + SILENCE_MS, work)
  await client.query('commit')
  return found
}

/** How many entries the ledger has. */
export async function countEntries(pool: Pick<pg.Pool, 'query'>): Promise<number> {
  const { rows } = await pool.query<{ entries: string }>('select count(*)::text as entries from ledger_entry')
  return Number(rows[0]?.entries ?? 0)
}
