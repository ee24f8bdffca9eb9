/** The first wait, before its random variation. */
const FIRST_MS = 1_000
/** The longest wait, before its random variation. */
const LONGEST_MS = 300_000
/** After a session longer than this, the waits begin again with the shortest. */
const GOOD_MS = 15_000
/** The wait before the next try of a login that our own limits held back: `least`, and at random up to `spread` more. */
const TURN_MS = { least: 1_000, spread: 4_000 }

export type LoginRetry = {
  /** The wait after a failed login or a broken session. Doubles each time, up to the longest. */
  nextMs(): number
  /** The wait after our own limits held the login back. */
  nextTurnMs(): number
  /** Records that a session ended after this time, in milliseconds. */
  recordSessionEnd(lastedMs: number): void
}

/** `random` returns a number from 0 to 1. */
export function createLoginRetry(random: () => number): LoginRetry {
  let waitMs = FIRST_MS
  return {
    nextMs() {
      // Up to a quarter less or more, so the bots do not all log in together.
      const jittered = waitMs * (0.75 + random() / 2)
      waitMs = Math.min(waitMs * 2, LONGEST_MS)
      return jittered
    },
    nextTurnMs: () => TURN_MS.least + TURN_MS.spread * random(),
    recordSessionEnd(lastedMs) {
      if (lastedMs > GOOD_MS) waitMs = FIRST_MS
    },
  }
}
