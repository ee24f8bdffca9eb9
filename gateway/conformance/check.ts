import type { Kit, Verdict } from './kit.ts'

/** One requirement of a handler. */
export type Check = {
  name: string
  /** The requirement as a sentence, true for a handler that passes. */
  title: string
  /** Where docs/ states the requirement. */
  document: string
  /**
   * Runs only with invented orders, because the check chooses the currencies; a store's real orders already have one.
   */
  inventedOrdersOnly?: true
  run(kit: Kit): Promise<Verdict>
}
