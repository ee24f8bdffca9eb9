/** Stores when each feed (the prices of a game, or exchange rates) of each source was requested, for all processes. */
import { sql } from 'kysely'
import type { Db } from '../db/client.ts'
import { inTransaction } from '../db/transaction.ts'
import type { Feed } from './sources/source.ts'

type Take = {
  source: string
  feeds: readonly Feed[]
  now: Date
  /** When the taken feed is due again. */
  nextAt: Date
  /** Takes no feed if the source was asked after this time. */
  notAskedSince: Date
  /** A feed that was asked after this time is due: the clock was ahead then. */
  latestAskedAt: Date
  /** A feed that waits until after this time is due: the clock was ahead when its source was postponed. */
  latestNextAt: Date
}

/** Takes the feed that has waited longest. Only one of several processes gets it. */
export function takeFeed(
  db: Db,
  { source, feeds, now, nextAt, notAskedSince, latestAskedAt, latestNextAt }: Take,
): Promise<Feed | undefined> {
  return inTransaction(db, async (tx) => {
    await sql`select pg_advisory_xact_lock(hashtextextended(${`prices ${source}`}, 0))`.execute(tx)
    await tx
      .insertInto('price_feed')
      .values(feeds.map((feed) => ({ source, feed, next_at: now })))
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    const { rows } = await sql<{ feed: Feed }>`
      update price_feed set asked_at = ${now}, next_at = ${nextAt}
      where source = ${source} and feed = (
        select feed from price_feed
        where source = ${source} and feed = any(${[...feeds]})
          and (next_at <= ${now} or asked_at > ${latestAskedAt} or next_at > ${latestNextAt})
          and not exists (select from price_feed where source = ${source}
            and asked_at > ${notAskedSince} and asked_at <= ${latestAskedAt})
        order by least(next_at, ${latestNextAt}), feed limit 1)
      returning feed`.execute(tx)
    return rows[0]?.feed
  })
}

type FeedKey = { source: string; feed: Feed }

/** Records a success. `refused` is the part of the answer that is missing or was not accepted. */
export async function recordSuccess(
  db: Db,
  { source, feed }: FeedKey,
  { at, refused }: { at: Date; refused: string | null },
): Promise<void> {
  await db
    .updateTable('price_feed')
    .set({ good_at: at, failures: 0, last_error: refused })
    .where('source', '=', source)
    .where('feed', '=', feed)
    .execute()
}

/**
 * Counts a failure. The feed waits for `firstWaitMs` after the first failure and twice as long after each further one,
 * but at most `maxWaitMs`.
 */
export async function countFailure(
  db: Db,
  { source, feed }: FeedKey,
  {
    now,
    error,
    firstWaitMs,
    maxWaitMs,
  }: { now: Date; error: string; firstWaitMs: number; maxWaitMs: number },
): Promise<void> {
  await sql`
    update price_feed set failures = failures + 1, last_error = ${error},
      next_at = ${now}::timestamptz
        + least(${firstWaitMs} * power(2, least(failures, 10)), ${maxWaitMs}) * interval '1 millisecond'
    where source = ${source} and feed = ${feed}`.execute(db)
}

/** Pauses all feeds of the source until `until`. */
export async function postponeSource(db: Db, source: string, until: Date): Promise<void> {
  await sql`
    update price_feed set next_at = greatest(next_at, ${until}) where source = ${source}`.execute(db)
}

/**
 * Marks the feeds of `sources` as in use. Marks all others as removed: their rates no longer count, nor do their prices,
 * unless they were frozen before. The prices, levels and last call of a removed source stay, in case it returns.
 */
export async function configureSources(db: Db, sources: readonly string[], now: Date): Promise<void> {
  await sql`
    update price_feed set removed_at = case when source = any(${[...sources]}) then null else ${now}::timestamptz end
    where (source = any(${[...sources]})) = (removed_at is not null)`.execute(db)
}

export function listFeeds(db: Db) {
  return db
    .selectFrom('price_feed')
    .select(['source', 'feed', 'good_at as goodAt', 'failures', 'last_error as lastError'])
    .where('removed_at', 'is', null)
    .orderBy('source')
    .orderBy('feed')
    .execute()
}
