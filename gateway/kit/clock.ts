/** The till's time, for expiry, deadlines, settlement, retries and retention. */
export type Clock = { now(): Date }

/** The till's clock together with the machine's. They differ only in sandbox mode, where the till's can be advanced. */
export type TillClock = Clock & {
  /**
   * For signatures and HTTP dates, which others check by their clocks. Also for locks, which a jump of the till's clock
   * must not end.
   */
  machineNow(): Date
  /** Converts a time of the till's clock to the machine's, and back. */
  machineTime(time: Date): Date
  tillTime(time: Date): Date
}

export type AdvanceableClock = TillClock & {
  aheadMs(): number
  /** Advances the clock, but never sets it back. Returns false if it is already that far ahead. */
  advanceTo(aheadMs: number): boolean
}

/** Creates a clock that equals the machine's until it is advanced. */
export function createTillClock(): AdvanceableClock {
  let advancedMs = 0
  return {
    now: () => new Date(Date.now() + advancedMs),
    machineNow: () => new Date(),
    machineTime: (time) => new Date(time.getTime() - advancedMs),
    tillTime: (time) => new Date(time.getTime() + advancedMs),
    aheadMs: () => advancedMs,
    advanceTo(aheadMs) {
      if (aheadMs <= advancedMs) return false
      advancedMs = aheadMs
      return true
    },
  }
}

/** The machine's clock, which cannot be advanced. Live mode has no other. */
export const systemClock: TillClock = {
  now: () => new Date(),
  machineNow: () => new Date(),
  machineTime: (time) => time,
  tillTime: (time) => time,
}

/** The time `ms` after `time`. */
export const plus = (time: Date, ms: number): Date => new Date(time.getTime() + ms)

/** True once `ms` have passed since `since`. */
export const isPast = (since: Date, ms: number, now: Date): boolean => now.getTime() - since.getTime() >= ms
