import type { Kit, Verdict } from './kit.ts'

/** One thing that a handler must do. */
export type Check = {
  name: string
  /** True of a handler that passes. */
  title: string
  /** The place in docs/ that says so. */
  document: string
  /** Orders that the store opens have its own currencies. */
  ownOrdersOnly?: true
  run(kit: Kit): Promise<Verdict>
}
