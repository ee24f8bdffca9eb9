/** Limits how often one kind of page is requested: a bucket that fills up, and a pause after Steam answers 429. */

export type Budget = {
  /** Waits for its turn, at most `maxWaitMs`. Resolves to false if the turn does not come by then. */
  take(maxWaitMs: number): Promise<boolean>
  /** Steam answered 429: pauses all requests, longer each time in a row. */
  limited(): void
  /** Steam answered: the next pause is short again. */
  answered(): void
}

export type BudgetLimits = {
  /** Requests at once after a time of rest. */
  burst: number
  /** Time in which one more becomes free. */
  everyMs: number
}

/** Steam does not say how long it refuses. Requests in that time are said to make it longer. */
const FIRST_PAUSE_MS = 30_000
const LAST_PAUSE_MS = 600_000

export type Time = {
  /** Never jumps; in milliseconds. */
  now(): number
  pause(ms: number): Promise<void>
}

export function createBudget({ burst, everyMs }: BudgetLimits, time: Time): Budget {
  // In time, not in turns, so nothing is rounded. Negative while turns that were granted are still ahead.
  let savedMs = burst * everyMs
  let countedAtMs = time.now()
  let pausedUntilMs = Number.NEGATIVE_INFINITY
  let pauses = 0

  const count = () => {
    const nowMs = time.now()
    savedMs = Math.min(burst * everyMs, savedMs + nowMs - countedAtMs)
    countedAtMs = nowMs
  }
  return {
    async take(maxWaitMs) {
      count()
      const waitMs = Math.max(0, everyMs - savedMs)
      if (waitMs > maxWaitMs || pausedUntilMs > time.now()) return false
      savedMs -= everyMs
      if (waitMs > 0) await time.pause(waitMs)
      return pausedUntilMs <= time.now()
    },
    limited() {
      // Several requests under way may be refused at once: one pause for all.
      if (pausedUntilMs > time.now()) return
      pausedUntilMs = time.now() + Math.min(FIRST_PAUSE_MS * 2 ** pauses, LAST_PAUSE_MS)
      pauses += 1
    },
    answered() {
      pauses = 0
    },
  }
}
