/** When each source is asked for what. */
import { GAMES } from '../../contract/games.ts'
import type { Db } from '../db/client.ts'
import { countFailure, postponeSource, setGood, takeFeed } from './feed-store.ts'
import type { Feed, PriceSource } from './sources/source.ts'

const MAX_BACKOFF_MS = 3_600_000
const MAX_ERROR = 500

type Turn = { source: PriceSource; now: Date }

/** Everything that the source can be asked for. */
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
  return takeFeed(db, { source: name, feeds: feedsOf(source), now, nextAt, alone })
}

/** Notes that the feed answered, and what of the answer was refused. */
export function noteGood(
  db: Db,
  { source, now }: Turn,
  { feed, refused }: { feed: Feed; refused: string | null },
): Promise<void> {
  return setGood(
    db,
    { source: source.name, feed },
    { at: now, refused: refused?.slice(0, MAX_ERROR) ?? null },
  )
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
  const longestMs = Math.max(everyMs, MAX_BACKOFF_MS)
  const failure = { now, error: error.slice(0, MAX_ERROR), everyMs, longestMs }
  await countFailure(db, { source: source.name, feed }, failure)
  if (retryAfterMs !== null) await postponeSource(db, source.name, new Date(now.getTime() + retryAfterMs))
}
