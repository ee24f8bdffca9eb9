/** A monotonic clock that only a test advances. Each wait ends when the clock reaches its time. */
import { setImmediate as turn } from 'node:timers/promises'

export type ManualClock = ReturnType<typeof createManualClock>

/** The most turns of the event loop that waiting code needs before it continues. */
const TURNS = 3

export function createManualClock() {
  let nowMs = 0
  let waiting: { atMs: number; goOn: () => void }[] = []
  const settle = async () => {
    for (let turns = 0; turns < TURNS; turns += 1) await turn()
  }
  return {
    now: () => nowMs,
    pause: (ms: number): Promise<void> =>
      new Promise((goOn) => {
        waiting.push({ atMs: nowMs + ms, goOn })
      }),
    /** Advances the clock, and wakes each wait at its own moment. */
    async advance(ms: number): Promise<void> {
      const untilMs = nowMs + ms
      for (;;) {
        await settle()
        const earliest = waiting.sort((a, b) => a.atMs - b.atMs)[0]
        if (earliest === undefined || earliest.atMs > untilMs) break
        nowMs = earliest.atMs
        waiting = waiting.filter((wait) => wait !== earliest)
        earliest.goOn()
      }
      nowMs = untilMs
    },
  }
}
