/** Compares measured times with limits, which stretch on a slow machine. Exceeding a limit never fails a proof. */
import { stretchLimit } from '../machine.ts'

/**
 * Times measured while the machine ran at `speed`: 1 is as fast as the quiet machine on which the limits were measured,
 * 0.5 half as fast.
 */
export type Measured = { ms: readonly number[]; speed: number }

export type Limit = {
  /** The limit on a quiet machine. */
  mostMs: number
  /** The part of the limit that does not depend on the machine, such as the rest of a lease. */
  waitMs?: number
}

export type Seconds =
  | { kind: 'unmeasured' }
  | {
      kind: 'measured'
      count: number
      medianMs: number
      mostMs: number
      /** The limit on a quiet machine. */
      limitMs: number
      /** The limit on this machine, for the series that came closest to its own limit or exceeded it most. */
      limitHereMs: number
      /** True if no series exceeded its own limit. */
      isWithin: boolean
    }

export function secondsOf(series: readonly Measured[], { mostMs: limitMs, waitMs = 0 }: Limit): Seconds {
  const times = series.flatMap(({ ms }) => ms).sort((one, other) => one - other)
  const [worst] = series
    .filter(({ ms }) => ms.length > 0)
    .map(({ ms, speed }) => ({
      mostMs: Math.max(...ms),
      limitMs: waitMs + stretchLimit(limitMs - waitMs, speed),
    }))
    .sort((one, other) => other.mostMs / other.limitMs - one.mostMs / one.limitMs)
  if (worst === undefined) return { kind: 'unmeasured' }
  return {
    kind: 'measured',
    count: times.length,
    medianMs: Math.round(times[times.length >> 1] ?? 0),
    mostMs: Math.round(times.at(-1) ?? 0),
    limitMs,
    limitHereMs: Math.round(worst.limitMs),
    isWithin: worst.mostMs <= worst.limitMs,
  }
}

export function secondsInWords(what: string, seconds: Seconds): string {
  if (seconds.kind === 'unmeasured') return `${what}: not measured in so few rounds`
  const { count, medianMs, mostMs, limitMs, limitHereMs, isWithin } = seconds
  return (
    `${what}: ${inSeconds(medianMs)} at the median of ${count}, the longest ${inSeconds(mostMs)}; ` +
    `${isWithin ? 'within' : 'BEYOND'} ${inSeconds(limitHereMs)}, which corresponds to ${inSeconds(limitMs)} on a quiet machine`
  )
}

const inSeconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`
