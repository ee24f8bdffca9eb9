/** The result of one seed, in a form that can be passed between threads. */
import type { Fault } from './faults.ts'
import { type PromiseName, Violation } from './violation.ts'

export type ViolationReport = { promiseName: PromiseName; message: string; stack: string }

export type Outcome = {
  seed: number
  /** Hash of everything that happened, in order. */
  hash: string
  steps: number
  /** Simulated milliseconds from the start of the seed to its last step. */
  simulatedMs: number
  faults: ReadonlyMap<Fault, number>
  /** The promise that was broken; absent if all were kept. */
  violation?: ViolationReport
  /** The last lines of the trace, or all of them. */
  trace: readonly string[]
}

/** An error that is not a Violation is reported under the promise `defect`. */
export function reportOf(error: unknown): ViolationReport {
  const promiseName = error instanceof Violation ? error.promiseName : 'defect'
  if (!(error instanceof Error)) return { promiseName, message: String(error), stack: '' }
  return { promiseName, message: error.message, stack: error.stack ?? '' }
}
