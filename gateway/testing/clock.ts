import type { TillClock } from '../kit/clock.ts'

export type FakeClock = TillClock & { advance(ms: number): void; set(time: Date): void }

/** A clock that stands still until it is told to move. The machine's clock moves with it. */
export function fakeClock(start: Date | string = '2026-01-01T12:00:00Z'): FakeClock {
  let now = new Date(start)
  return {
    now: () => new Date(now),
    machineNow: () => new Date(now),
    machineTime: (time) => time,
    tillTime: (time) => time,
    advance: (ms) => {
      now = new Date(now.getTime() + ms)
    },
    set: (time) => {
      now = new Date(time)
    },
  }
}
