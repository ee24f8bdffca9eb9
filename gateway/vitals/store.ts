import { sql } from 'kysely'
import type { Db } from '../db/client.ts'
import type { VitalCount } from './vitals.ts'

const KEPT_DAYS = 30

/** Adds the counts of this process to those of today, and deletes old days. */
export async function saveVitals(db: Db, counts: readonly VitalCount[]): Promise<void> {
  if (counts.length === 0) return
  await sql`
    insert into page_vital (day, screen, device, metric, bucket, pages)
    select date_trunc('day', till_now(), 'UTC'), screen, device, metric, bucket, pages
    from jsonb_to_recordset(${JSON.stringify(counts)}::jsonb) as counted
      (screen text, device text, metric text, bucket int, pages int)
    order by screen, device, metric, bucket
    on conflict (day, screen, device, metric, bucket) do update set pages = page_vital.pages + excluded.pages`.execute(
    db,
  )
  await sql`delete from page_vital where day < date_trunc('day', till_now(), 'UTC') - make_interval(days => ${KEPT_DAYS})`.execute(
    db,
  )
}

/** Returns the counts of the last `days` days, including today, in the order that vitalsOf needs. */
export async function readVitals(db: Db, days: number): Promise<VitalCount[]> {
  const { rows } = await sql<VitalCount>`
    select screen, device, metric, bucket, sum(pages)::int as pages from page_vital
    where day > date_trunc('day', till_now(), 'UTC') - make_interval(days => ${days})
    group by screen, device, metric, bucket order by screen, device, metric, bucket`.execute(db)
  return rows
}
