/** The one place where the gateway reads the time of day. Code gets a clock as an argument. */

/** The till's time: expiry, deadlines, settlement, retries and retention. */
export type Clock = { now(): Date }

/**
 * The till's clock with the machine's beside it. The two are the same but in sandbox mode, where the till's can be
 * advanced.
 */
export type TillClock = Clock & {
  /** For signatures and HTTP dates, which others check by their own clocks, and for locks, which a jump must not end. */
  machineNow(): Date
  /** Converts a time of the till's clock to the machine's, and back. */
  machineTime(time: Date): Date
  tillTime(time: Date): Date
}

export type AdvancedClock = TillClock & {
  aheadMs(): number
  /** Only forward: returns false if the clock is that far ahead already. */
  advanceTo(aheadMs: number): boolean
}

/** A clock that starts as the machine's. */
export function createTillClock(): AdvancedClock {
  let ahead = 0
  return {
    now: () => new Date(Date.now() + ahead),
    machineNow: () => new Date(),
    machineTime: (time) => new Date(time.getTime() - ahead),
    tillTime: (time) => new Date(time.getTime() + ahead),
    aheadMs: () => ahead,
    advanceTo(aheadMs) {
      if (aheadMs <= ahead) return false
      ahead = aheadMs
      return true
    },
  }
}

/** The machine's clock, which nobody can advance: all that live mode has. */
export const systemClock: TillClock = {
  now: () => new Date(),
  machineNow: () => new Date(),
  machineTime: (time) => time,
  tillTime: (time) => time,
}

export const isPast = (since: Date, ms: number, now: Date): boolean => now.getTime() - since.getTime() >= ms
