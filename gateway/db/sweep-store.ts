/** Sweeps of growing tables, with a limited number of rows per statement, so no statement locks its rows for long. */
import { sql } from 'kysely'
import { plus } from '../kit/clock.ts'
import { MINUTE_MS } from '../kit/duration.ts'
import type { Db } from './client.ts'
import type { Tables } from './schema.ts'

const AT_A_TIME = 500
/** Rows that are left after this many rounds wait for the next sweep. */
const MOST_ROUNDS = 200

/** The column that says how old a row is. */
type TimeColumns = {
  deposit_link: 'given_at'
  idempotency_key: 'created_at'
  inventory_request: 'created_at'
  webhook_attempt: 'at'
}

/** The column must have an index. */
export function deleteBefore<T extends keyof TimeColumns & keyof Tables>(
  db: Db,
  { table, column, atATime = AT_A_TIME }: { table: T; column: TimeColumns[T]; atATime?: number },
  before: Date,
): Promise<void> {
  return inRounds(atATime, async () => {
    // Check the time again: a row that was renewed while the statement waited for it must stay.
    const { numAffectedRows = 0n } = await sql`
      delete from ${sql.table(table)} where ctid = any(array(
        select ctid from ${sql.table(table)} where ${sql.ref(column)} < ${before} order by ${sql.ref(column)} limit ${atATime}))
        and ${sql.ref(column)} < ${before}`.execute(db)
    return Number(numAffectedRows)
  })
}

/** Repeats `work` until it handles fewer rows than `atATime`, or has run `MOST_ROUNDS` times. */
export async function inRounds(atATime: number, work: () => Promise<number>): Promise<void> {
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    if ((await work()) < atATime) return
  }
}

/**
 * A sweep handles the rows with a time before `before`, and its place is the time up to which it has come. The place
 * may be this much later than `before`: another gateway, whose clock is a little ahead, may have swept a moment ago.
 * Rows are kept for longer than this, so even such a place is in the past, and no row is written with a time before it.
 */
const CLOCKS_APART_MS = MINUTE_MS

/** A place after this comes from a clock that was far ahead. The rows up to it would never be examined. */
const latestPlace = (before: Date): Date => plus(before, CLOCKS_APART_MS)

/** How far the sweep of this name has come. A place after `latestPlace` does not count. */
export async function placeOf(db: Db, sweep: string, before: Date): Promise<Date> {
  const row = await db
    .selectFrom('sweep_place')
    .select('up_to')
    .where('sweep', '=', sweep)
    .where('up_to', '<=', latestPlace(before))
    .executeTakeFirst()
  return row?.up_to ?? new Date(0)
}

/** The place moves back only if it is after `latestPlace`, even if two processes sweep at the same time. */
export async function keepPlace(
  db: Db,
  sweep: string,
  { upTo, before }: { upTo: Date; before: Date },
): Promise<void> {
  await sql`
    insert into sweep_place (sweep, up_to) values (${sweep}, ${upTo})
    on conflict (sweep) do update set up_to = greatest(excluded.up_to,
      case when sweep_place.up_to <= ${latestPlace(before)}::timestamptz then sweep_place.up_to end)`.execute(
    db,
  )
}
