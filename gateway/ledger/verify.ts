/** Runs verify.sql: a second opinion on the ledger that shares no code with the first. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'

export type Difference = { problem: string; detail: string }

const SQL = readFileSync(join(import.meta.dirname, 'verify.sql'), 'utf8')
const DEADLINE = '5min'

/** Every difference found, at most 1,000; on one snapshot of the database. Throws when it cannot be asked. */
export async function verifyLedger(pool: Pick<pg.Pool, 'connect'>): Promise<Difference[]> {
  const client = await pool.connect()
  try {
    await client.query('begin isolation level repeatable read read only')
    await client.query(`set local statement_timeout = '${DEADLINE}'`)
    const { rows } = await client.query<Difference>(SQL)
    await client.query('commit')
    client.release()
    return rows
  } catch (error) {
    client.release(true)
    throw error
  }
}

/** How many entries the ledger has. */
export async function countEntries(pool: Pick<pg.Pool, 'query'>): Promise<number> {
  const { rows } = await pool.query<{ entries: string }>('select count(*)::text as entries from ledger_entry')
  return Number(rows[0]?.entries ?? 0)
}
