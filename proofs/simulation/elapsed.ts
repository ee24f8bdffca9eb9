const YEAR_MS = 365.25 * 86_400_000

export type Elapsed = { simulatedYears: number; acceleration: number }

/** Acceleration is simulated time divided by real time. */
export function elapsedOf(simulatedMs: number, wallMs: number): Elapsed {
  return {
    simulatedYears: Math.round((simulatedMs / YEAR_MS) * 100) / 100,
    acceleration: Math.round(simulatedMs / Math.max(1, wallMs)),
  }
}

export const elapsedInWords = ({ simulatedYears, acceleration }: Elapsed): string =>
  `${simulatedYears} simulated years, ${acceleration.toLocaleString('en')} times as fast as real time`
