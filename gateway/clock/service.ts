/**
 * The till's clock and the Steam sandbox's, kept together in sandbox mode. The sandbox is advanced first and the till
 * follows it, because the till must never settle a trade that Steam still protects.
 */
import type { Db } from '../db/client.ts'
import { type AdvanceableClock, createTillClock, systemClock, type TillClock } from '../kit/clock.ts'
import { readDuration, SECOND_MS } from '../kit/duration.ts'
import type { Log } from '../kit/log.ts'
import { type SandboxClock, sandboxClock } from './sandbox.ts'
import { MOST_AHEAD_S, moveClockAhead, readClockAhead } from './store.ts'

/** The till's clock, as stored in the database. Live mode uses the machine's clock and never reads the table. */
export async function openClock(db: Db, mode: 'sandbox' | 'live'): Promise<TillClock> {
  return mode === 'live' ? systemClock : openAdvanceableClock(db)
}

export async function openAdvanceableClock(db: Db): Promise<AdvanceableClock> {
  const clock = createTillClock()
  clock.advanceTo((await readClockAhead(db)) * SECOND_MS)
  return clock
}

type AdvanceDeps = {
  db: Db
  /** Undefined in live mode only. */
  sandboxUrl: string | undefined
}

export type AdvanceAnswer =
  | { kind: 'advanced'; aheadS: number }
  | { kind: 'refused'; reason: 'live_mode' | 'not_a_duration' | 'too_far' | 'no_sandbox' }

/** Advances the till and its Steam sandbox by a duration such as `8d`. Running gateways follow within seconds. */
export async function advanceClock(
  { db, sandboxUrl }: AdvanceDeps,
  duration: string,
): Promise<AdvanceAnswer> {
  if (sandboxUrl === undefined) return { kind: 'refused', reason: 'live_mode' }
  const seconds = readDuration(duration)
  if (seconds === undefined) return { kind: 'refused', reason: 'not_a_duration' }
  const steam = sandboxClock(sandboxUrl)
  const aheadBefore = await steam.raise(await readClockAhead(db)).catch(() => undefined)
  if (aheadBefore === undefined) return { kind: 'refused', reason: 'no_sandbox' }
  if (aheadBefore + seconds > MOST_AHEAD_S) return { kind: 'refused', reason: 'too_far' }
  return { kind: 'advanced', aheadS: await moveClockAhead(db, await steam.advance(seconds)) }
}

export type FollowDeps = {
  db: Db
  clock: AdvanceableClock
  sandboxUrl: string
  log: Log
  /** Called after this process's clock has jumped, so work that became due is done. */
  onAdvance(): void
}

/**
 * Returns a function that moves the clocks of the sandbox, the database and this process to the furthest of them. The
 * last two stop at `MOST_AHEAD_S`.
 * Every gateway in sandbox mode calls it every second. The clock in the database never goes back, so all processes
 * reach the same time, in whichever order they read.
 */
export function createFollower({ db, clock, sandboxUrl, log, onAdvance }: FollowDeps): () => Promise<void> {
  const steam = sandboxClock(sandboxUrl)
  let isWarned = false
  return async () => {
    const steamAheadS = await steam.ahead().catch(() => undefined)
    const aheadS = await raiseIfBehind(db, steamAheadS)
    if (steamAheadS !== undefined && steamAheadS < aheadS) await raiseSandbox(steam, aheadS)
    if (steamAheadS !== undefined && steamAheadS > MOST_AHEAD_S && !isWarned) {
      isWarned = true
      log.error({ steamAheadS, aheadS }, 'the sandbox was advanced further than the till can follow')
    }
    if (!clock.advanceTo(aheadS * SECOND_MS)) return
    log.info({ aheadS, now: clock.now() }, 'the clock was advanced')
    onAdvance()
  }
}

async function raiseIfBehind(db: Db, steamAheadS: number | undefined): Promise<number> {
  const aheadS = await readClockAhead(db)
  if (steamAheadS === undefined || Math.min(steamAheadS, MOST_AHEAD_S) <= aheadS) return aheadS
  return moveClockAhead(db, steamAheadS)
}

/** Advances a sandbox whose data was removed, because it starts again at the machine's time. */
async function raiseSandbox(steam: SandboxClock, aheadS: number): Promise<void> {
  // The sandbox may have just stopped. The next call tries again.
  await steam.raise(aheadS).catch(() => undefined)
}
