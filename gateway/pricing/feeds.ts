/** Whose turn it is: when each source is asked for what, kept in the database for all processes and over restarts. */
import { sql } from 'kysely'
import { GAMES } from '../../contract/games.ts'
import type { Db } from '../db/client.ts'
import { inTransaction } from '../db/transaction.ts'
import type { Feed, PriceSource } from './sources/source.ts'

const MAX_BACKOFF_MS = 3_600_000
const MAX_ERROR = 500

type Turn = { source: PriceSource; now: Date }

/** What the source can be asked for. */
export function feedsOf(source: PriceSource): Feed[] {
  return [...(source.fetch ? GAMES : []), ...(source.fetchRates ? (['rates'] as const) : [])]
}

/**
 * Takes the feed that has waited longest, if any is due and the source was left alone long enough. Of all processes
 * one gets it; should that one die, the feed is due again at its next time.
 */
export function takeDueFeed(db: Db, { source, now }: Turn): Promise<Feed | undefined> {
  const { name, pace } = source
  const nextAt = new Date(now.getTime() + pace.everyMs)
  const alone = new Date(now.getTime() - pace.gapMs)
  return inTransaction(db, async (tx) => {
    await sql`select pg_advisory_xact_lock(hashtextextended(${`prices ${name}`}, 0))`.execute(tx)
    await tx
      .insertInto('price_feed')
      .values(feedsOf(source).map((feed) => ({ source: name, feed, next_at: now })))
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    const { rows } = await sql<{ feed: Feed }>`
      update price_feed set asked_at = ${now}, next_at = ${nextAt}
      where source = ${name} and feed = (
        select feed from price_feed
        where source = ${name} and feed = any(${feedsOf(source)}) and next_at <= ${now}
          and not exists (select from price_feed where source = ${name} and asked_at > ${alone})
        order by next_at, feed limit 1)
      returning feed`.execute(tx)
    return rows[0]?.feed
  })
}

/** Notes that the feed answered. */
export async function noteGood(db: Db, { source, now }: Turn, feed: Feed): Promise<void> {
  await db
    .updateTable('price_feed')
    .set({ good_at: now, failures: 0, last_error: null })
    .where('source', '=', source.name)
    .where('feed', '=', feed)
    .execute()
}

/**
 * Notes that the feed failed: it is asked later each time, at most an hour later. A source that wants to be left
 * alone is left alone with all its feeds.
 */
export async function noteFailure(
  db: Db,
  { source, now }: Turn,
  { feed, error, retryAfterMs }: { feed: Feed; error: string; retryAfterMs: number | null },
): Promise<void> {
  const { everyMs } = source.pace
  const longest = Math.max(everyMs, MAX_BACKOFF_MS)
  await sql`
    update price_feed set failures = failures + 1, last_error = ${error.slice(0, MAX_ERROR)},
      next_at = ${now}::timestamptz
        + least(${everyMs} * power(2, least(failures, 10)), ${longest}) * interval '1 millisecond'
    where source = ${source.name} and feed = ${feed}`.execute(db)
  if (retryAfterMs === null) return
  const left = new Date(now.getTime() + retryAfterMs)
  await sql`
    update price_feed set next_at = greatest(next_at, ${left}) where source = ${source.name}`.execute(db)
}

/** How each feed of each source does. */
export function listFeeds(db: Db) {
  return db
    .selectFrom('price_feed')
    .select(['source', 'feed', 'good_at as goodAt', 'failures', 'last_error as lastError'])
    .orderBy('source')
    .orderBy('feed')
    .execute()
}
