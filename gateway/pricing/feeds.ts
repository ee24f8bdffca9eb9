/** When to ask each source for each feed: for the prices of each game, or for exchange rates. */
import { GAMES } from '../../contract/games.ts'
import type { Db } from '../db/client.ts'
import { plus } from '../kit/clock.ts'
import { countFailure, postponeSource, recordSuccess, takeFeed } from './feed-store.ts'
import { FAR_AHEAD_MS } from './price.ts'
import { MAX_RETRY_AFTER_MS } from './sources/http.ts'
import type { Feed, PriceSource } from './sources/source.ts'

/** The longest wait after failures, unless the feed's own interval is longer. */
const MAX_BACKOFF_MS = 3_600_000
/** The longest wait after a first failure, so a source with an interval of six hours is asked again sooner. */
const FIRST_RETRY_MS = 10 * 60_000
const MAX_ERROR_LENGTH = 500

type Turn = { source: PriceSource; now: Date }

export function feedsOf(source: PriceSource): Feed[] {
  return [
    ...(source.fetch ? (source.games ?? GAMES) : []),
    ...(source.fetchRates ? (['rates'] as const) : []),
  ]
}

/**
 * Takes the feed that has waited longest, if one is due and the source's shortest interval between two requests has
 * passed. Only one process gets it. If that process dies, the feed becomes due again after its normal interval.
 */
export function takeDueFeed(db: Db, { source, now }: Turn): Promise<Feed | undefined> {
  const { name, pace } = source
  const nextAt = new Date(now.getTime() + pace.everyMs)
  const notAskedSince = new Date(now.getTime() - pace.gapMs)
  const latestAskedAt = new Date(now.getTime() + FAR_AHEAD_MS)
  const latestNextAt = plus(latestAskedAt, Math.max(pace.everyMs, MAX_BACKOFF_MS, MAX_RETRY_AFTER_MS))
  const times = { now, nextAt, notAskedSince, latestAskedAt, latestNextAt }
  return takeFeed(db, { source: name, feeds: feedsOf(source), ...times })
}

/**
 * Records an answer of the feed, and which part of it is missing or was refused. If the source asks for a pause, all its
 * feeds pause.
 */
export async function noteSuccess(
  db: Db,
  { source, now }: Turn,
  { feed, refused, retryAfterMs }: { feed: Feed; refused: string | null; retryAfterMs: number | null },
): Promise<void> {
  const success = { at: now, refused: refused?.slice(0, MAX_ERROR_LENGTH) ?? null }
  await recordSuccess(db, { source: source.name, feed }, success)
  if (retryAfterMs !== null) await postponeSource(db, source.name, new Date(now.getTime() + retryAfterMs))
}

/**
 * Records a failure of the feed. The first wait is ten minutes, or the feed's interval if that is shorter. It doubles
 * with each failure, up to an hour or the feed's interval, whichever is longer. If the source asks for a pause, all
 * its feeds pause.
 */
export async function noteFailure(
  db: Db,
  { source, now }: Turn,
  { feed, error, retryAfterMs }: { feed: Feed; error: string; retryAfterMs: number | null },
): Promise<void> {
  const { everyMs } = source.pace
  const firstWaitMs = Math.min(everyMs, FIRST_RETRY_MS)
  const maxWaitMs = Math.max(everyMs, MAX_BACKOFF_MS)
  const failure = { now, error: error.slice(0, MAX_ERROR_LENGTH), firstWaitMs, maxWaitMs }
  await countFailure(db, { source: source.name, feed }, failure)
  if (retryAfterMs !== null) await postponeSource(db, source.name, new Date(now.getTime() + retryAfterMs))
}
