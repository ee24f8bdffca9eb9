import { sql } from 'kysely'
import type { Db } from '../db/client.ts'

/**
 * Returns a value that changes when a deposit, trade, ledger entry or act is added, when an event is published, when
 * the number of outages or of open proposals changes, and when a bot changes its state, or goes online or offline.
 */
export async function readMark(db: Db): Promise<string> {
  const { rows } = await sql<{ mark: string }>`
    select concat_ws('.', (select max(id) from deposit), (select sum(last_sequence) from store),
      (select max(id) from ledger_entry), (select max(id) from operator_act),
      (select max(id) from trade), (select count(*) from outage),
      (select string_agg(state || online::text, '' order by id) from bot),
      (select count(*) from proposal where state = 'open')) as mark`.execute(db)
  return rows[0]?.mark ?? ''
}
