/** Sweeps of tables that grow: a limited number of rows a statement, so none of them holds its rows for long. */
import { sql } from 'kysely'
import type { Db } from './client.ts'
import type { Tables } from './schema.ts'

/** Rows that one statement of a sweep deletes. */
const AT_A_TIME = 500
/** What is left after so many statements waits for the next sweep. */
const MOST_ROUNDS = 200

type Times = {
  deposit_link: 'given_at'
  idempotency_key: 'created_at'
  inventory_request: 'created_at'
  webhook_attempt: 'at'
}

/** Deletes the rows whose time is before then. The column must have an index. */
export function deleteBefore<T extends keyof Times & keyof Tables>(
  db: Db,
  { table, column, atATime = AT_A_TIME }: { table: T; column: Times[T]; atATime?: number },
  before: Date,
): Promise<void> {
  return inRounds(atATime, async () => {
    // The time again: a row that was renewed while the statement waited for it stays.
    const { numAffectedRows = 0n } = await sql`
      delete from ${sql.table(table)} where ctid = any(array(
        select ctid from ${sql.table(table)} where ${sql.ref(column)} < ${before} order by ${sql.ref(column)} limit ${atATime}))
        and ${sql.ref(column)} < ${before}`.execute(db)
    return Number(numAffectedRows)
  })
}

/** Repeats `work` until it finds fewer rows than it may. */
export async function inRounds(atATime: number, work: () => Promise<number>): Promise<void> {
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    if ((await work()) < atATime) return
  }
}

/** How far the sweep of this name has looked; undefined before its first. */
export async function placeOf(db: Db, sweep: string): Promise<Date | undefined> {
  const row = await db.selectFrom('sweep_place').select('up_to').where('sweep', '=', sweep).executeTakeFirst()
  return row?.up_to
}

/** Never goes back: two processes may sweep at once. */
export async function keepPlace(db: Db, sweep: string, upTo: Date): Promise<void> {
  await sql`
    insert into sweep_place (sweep, up_to) values (${sweep}, ${upTo})
    on conflict (sweep) do update set up_to = greatest(sweep_place.up_to, excluded.up_to)`.execute(db)
}
