/** fast-check in Vitest. A failing property prints its seed and the smallest example that breaks it. */
import * as fc from 'fast-check'
import { it } from 'vitest'

export { fc }

export const test = {
  /** Runs the check for many generated values. A check fails by throwing. */
  prop:
    <Values extends [unknown, ...unknown[]]>(arbitraries: { [K in keyof Values]: fc.Arbitrary<Values[K]> }) =>
    (title: string, check: (...values: Values) => void): void =>
      it(title, () => fc.assert(fc.property(...arbitraries, check))),
}
