/** A strict pace for the calls with one key: a minimum time between any two calls, and no burst after a pause. */

export type Time = {
  /** A clock that never jumps, in milliseconds. */
  now(): number
  pause(ms: number): Promise<void>
}

export type Pace = {
  /** Resolves to true when the next call may be made, and to false if too many calls wait. */
  turn(): Promise<boolean>
}

const MOST_WAITING = 20

export function createPace(everyMs: number, time: Time): Pace {
  let nextMs = Number.NEGATIVE_INFINITY
  let waiting = 0
  return {
    async turn() {
      if (waiting >= MOST_WAITING) return false
      const atMs = Math.max(time.now(), nextMs)
      nextMs = atMs + everyMs
      waiting += 1
      try {
        // A timer may fire early.
        for (let leftMs = atMs - time.now(); leftMs > 0; leftMs = atMs - time.now()) await time.pause(leftMs)
      } finally {
        waiting -= 1
      }
      return true
    },
  }
}
