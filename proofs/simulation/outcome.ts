/** The result of one seed, as it crosses between threads. */
import type { Fault } from './faults.ts'
import { type Invariant, Violation } from './violation.ts'

export type Told = { invariant: Invariant; message: string; stack: string }

export type Outcome = {
  seed: number
  /** Of all that happened, in its order. */
  hash: string
  steps: number
  /** From the start of the seed to its last step. */
  simulatedMs: number
  faults: ReadonlyMap<Fault, number>
  /** The promise that was broken; absent if all held. */
  violation?: Told
  /** The last lines of what happened, or all of them. */
  trace: readonly string[]
}

/** A defect is a broken promise like any other. */
export function toldOf(error: unknown): Told {
  const invariant = error instanceof Violation ? error.invariant : 'defect'
  if (!(error instanceof Error)) return { invariant, message: String(error), stack: '' }
  return { invariant, message: error.message, stack: error.stack ?? '' }
}
