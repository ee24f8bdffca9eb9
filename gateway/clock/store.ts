import { sql } from 'kysely'
import type { Db } from '../db/client.ts'

/** The most that the till's clock can be ahead. The table refuses more. */
export const MOST_AHEAD_S = 400 * 86_400

/** How far the till's clock is ahead of the machine's, in seconds. */
export async function readClockAhead(db: Db): Promise<number> {
  const row = await db.selectFrom('till_clock').select('ahead_s').executeTakeFirst()
  return row?.ahead_s ?? 0
}

/** Moves the till's clock this far ahead, to `MOST_AHEAD_S` at most, and never back. Returns how far it is ahead. */
export async function moveClockAhead(db: Db, aheadS: number): Promise<number> {
  const row = await db
    .insertInto('till_clock')
    .values({ ahead_s: Math.min(aheadS, MOST_AHEAD_S) })
    .onConflict((conflict) =>
      conflict
        .column('only_row')
        .doUpdateSet({ ahead_s: sql`greatest(till_clock.ahead_s, excluded.ahead_s)` }),
    )
    .returning('ahead_s')
    .executeTakeFirstOrThrow()
  return row.ahead_s
}
