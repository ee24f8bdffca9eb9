import type { Kit, Verdict } from './kit.ts'

/** One requirement of a handler. */
export type Check = {
  name: string
  /** The requirement as a sentence, true for a handler that passes. */
  title: string
  /** Where docs/ states the requirement. */
  document: string
  /** Runs with invented orders only, because the check chooses currencies, which orders of the store have already. */
  ownOrdersOnly?: true
  run(kit: Kit): Promise<Verdict>
}
