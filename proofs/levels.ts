/** The two levels of the simulation: what a seed of each is, and which faults each must meet. */
import { type Fault, PURE_FAULTS } from './faults.ts'
import type { Outcome } from './outcome.ts'
import { runPure } from './pure/run.ts'

export type Level = {
  faults: readonly Fault[]
  deposits: number
  run(seed: number, options: { keepTrace?: boolean }): Promise<Outcome>
  close(): Promise<void>
}

export const LEVELS = ['pure'] as const
export type LevelName = (typeof LEVELS)[number]

const PURE_DEPOSITS = 100

export function openPure(): Level {
  return {
    faults: PURE_FAULTS,
    deposits: PURE_DEPOSITS,
    run: async (seed, options) => runPure({ seed, deposits: PURE_DEPOSITS, ...options }),
    close: async () => {},
  }
}

/** Faults of a level that none of its seeds met. */
export function unmet(level: Pick<Level, 'faults'>, outcomes: readonly Outcome[]): Fault[] {
  return level.faults.filter((fault) => !outcomes.some((outcome) => (outcome.faults.get(fault) ?? 0) > 0))
}
