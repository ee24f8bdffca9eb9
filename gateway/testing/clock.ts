import type { TillClock } from '../kit/clock.ts'

export type FakeClock = TillClock & {
  /** Advances the machine's clock and the till's, as passing time does. */
  advance(ms: number): void
  /** Advances the till's clock but not the machine's. */
  jump(ms: number): void
  /** Sets the machine's clock to the time at which the till's clock shows `time`. */
  set(time: Date): void
}

/** A clock that moves only when a test advances it. */
export function fakeClock(start: Date | string = '2026-01-01T12:00:00Z'): FakeClock {
  let machineMs = new Date(start).getTime()
  let aheadMs = 0
  return {
    now: () => new Date(machineMs + aheadMs),
    machineNow: () => new Date(machineMs),
    machineTime: (time) => new Date(time.getTime() - aheadMs),
    tillTime: (time) => new Date(time.getTime() + aheadMs),
    advance: (ms) => {
      machineMs += ms
    },
    jump: (ms) => {
      aheadMs += ms
    },
    set: (time) => {
      machineMs = time.getTime() - aheadMs
    },
  }
}
