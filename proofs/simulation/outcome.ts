/** The result of one seed, in a form that can be passed between threads. */
import type { Fault } from './faults.ts'
import { type Invariant, Violation } from './violation.ts'

export type ViolationReport = { invariant: Invariant; message: string; stack: string }

export type Outcome = {
  seed: number
  /** Hash of everything that happened, in order. */
  hash: string
  steps: number
  /** Simulated milliseconds from the start of the seed to its last step. */
  simulatedMs: number
  faults: ReadonlyMap<Fault, number>
  /** The invariant that was violated; absent if all held. */
  violation?: ViolationReport
  /** The last lines of the trace, or all of them. */
  trace: readonly string[]
}

/** Describes an error. An unexpected one counts as a violated invariant too. */
export function reportOf(error: unknown): ViolationReport {
  const invariant = error instanceof Violation ? error.invariant : 'defect'
  if (!(error instanceof Error)) return { invariant, message: String(error), stack: '' }
  return { invariant, message: error.message, stack: error.stack ?? '' }
}
