import type { Kit, Verdict } from './kit.ts'

export type Check = {
  name: string
  /** The requirement as a sentence, true for a handler that passes. */
  title: string
  /** Where docs/ states the requirement. */
  document: string
  /** The check chooses the currency of its order, so the check is left out when the store opens the deposits. */
  inventedOrdersOnly?: true
  run(kit: Kit): Promise<Verdict>
}
