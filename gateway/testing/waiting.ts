import { sql } from 'kysely'
import type { Db } from '../db/client.ts'

/** The number of the database's connections that wait for a lock. */
export async function countWaiting(db: Db): Promise<number> {
  const { rows } = await sql`
    select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`.execute(db)
  return rows.length
}
