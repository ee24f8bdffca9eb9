/**
 * How long an operator's session lasts, and how long a passkey check stays fresh. Pure. Times are those of the
 * machine's clock.
 */

/** A session ends this long after its last use. */
const IDLE_MS = 30 * 60_000
/** A session ends this long after its beginning, however much it is used. */
const LONGEST_MS = 12 * 60 * 60_000
const FRESH_MS = 5 * 60_000
/** Except for passkey checks, a use of a session is recorded only if the last recorded use is this long ago. */
export const NOTED_EVERY_MS = 15_000

/**
 * How far ahead of this gateway's clock the clock of another one may be. `db/far-time.ts` allows more for what the till
 * schedules, but a session can last too long by this much.
 */
const MOST_AHEAD_MS = 60_000

export type SessionTimes = { begunAt: Date; usedAt: Date; verifiedAt: Date }

/** Times after this come from a clock that was ahead. A session or link with such a time would last too long. */
export const latestOf = (now: Date): Date => new Date(now.getTime() + MOST_AHEAD_MS)

/**
 * A session has ended if it was last used at `idleSince` or before, or began at `begunBefore` or before, or if either
 * time is after `latest`.
 */
export const endsOf = (now: Date): { idleSince: Date; begunBefore: Date; latest: Date } => ({
  idleSince: new Date(now.getTime() - IDLE_MS),
  begunBefore: new Date(now.getTime() - LONGEST_MS),
  latest: latestOf(now),
})

export function isAlive({ begunAt, usedAt }: SessionTimes, now: Date): boolean {
  const { idleSince, begunBefore, latest } = endsOf(now)
  return usedAt > idleSince && usedAt <= latest && begunAt > begunBefore && begunAt <= latest
}

export const isFresh = ({ verifiedAt }: SessionTimes, now: Date): boolean =>
  verifiedAt <= latestOf(now) && now.getTime() - verifiedAt.getTime() < FRESH_MS
