/** How much time a seed simulated: from its start to the last thing that its trace tells. */
import type { Outcome } from '../outcome.ts'

/** Both levels begin here. */
const START = Date.UTC(2026, 0, 1)
const YEAR_MS = 365.25 * 86_400_000

/** Every line of a trace begins with the simulated time, in milliseconds since 1970. */
export function simulatedMsOf({ trace }: Pick<Outcome, 'trace'>): number {
  const time = Number.parseInt(trace.at(-1) ?? '', 10)
  return Number.isNaN(time) ? 0 : time - START
}

export type Elapsed = { simulatedYears: number; acceleration: number }

/** Acceleration is simulated time divided by the time on the wall. */
export function elapsedOf(simulatedMs: number, wallMs: number): Elapsed {
  return {
    simulatedYears: Math.round((simulatedMs / YEAR_MS) * 100) / 100,
    acceleration: Math.round(simulatedMs / Math.max(1, wallMs)),
  }
}

export const inWords = ({ simulatedYears, acceleration }: Elapsed): string =>
  `${simulatedYears} simulated years, ${acceleration.toLocaleString('en')} times as fast as the clock on the wall`
