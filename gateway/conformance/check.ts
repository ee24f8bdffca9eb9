import type { Kit, Verdict } from './kit.ts'

/** One requirement of a handler. */
export type Check = {
  name: string
  /** The requirement as a sentence, true for a handler that passes. */
  title: string
  /** Where docs/ states the requirement. */
  document: string
  /** Runs with invented orders only: the check chooses currencies, and the store's own orders already have one. */
  ownOrdersOnly?: true
  run(kit: Kit): Promise<Verdict>
}
