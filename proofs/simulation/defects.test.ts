import { describe, expect, it } from 'vitest'
import type { Outcome } from './outcome.ts'
import { DEFECTS } from './planted-defects.ts'
import { runPure } from './pure/run.ts'

/** A seed that finds the defect, and the promise that it breaks there. The rules as they are hold for all of them. */
const FOUND = [
  ['two watchers credit one exchange', 1, 'I6'],
  ['an offer in state 3 is credited without proof', 1, 'I7'],
  ['the deadline ends a trade without reading back', 1, 'I7'],
  ['an unknown send is sent again', 1, 'I8'],
  ['a late acceptance is ignored', 1, 'I12'],
  ['a bad end is believed at the first word', 1, 'I7'],
  ['what is left of a reversed exchange is not credited', 3, 'I12'],
  ['a reversal is forgotten', 1, 'I13'],
  ['funds are released whatever Steam says', 1, 'I7'],
  ['nothing is ever held', 1, 'I15'],
  ['on_release is ignored', 1, 'I15'],
  ['the limit is ignored', 1, 'I15'],
  ['reversals are always the operator’s', 1, 'I15'],
  ['reversals are always the store’s', 2, 'I15'],
  ['a reversal gives its room back', 3, 'I15'],
  ['protection is never seen', 1, 'I15'],
  ['a release also releases what was reversed', 2, 'I13'],
  ['a reversal in part takes everything back', 2, 'I7'],
  ['items stay taken after the end', 1, 'I8'],
  ['a reversal is not written into custody', 1, 'I13'],
  ['the commission of a reversal is kept', 1, 'I13'],
  ['a store is not told of a reversal', 1, 'I9'],
  ['until when funds are held is forgotten', 1, 'I13'],
  ['a counter-offer ends nothing', 1, 'I12'],
  ['a cancelled offer counts as declined', 1, 'I7'],
  ['an exchange under way is credited', 1, 'I7'],
  ['an unknown send is never looked for', 1, 'I12'],
] as const satisfies readonly [keyof typeof DEFECTS, number, string][]

/** Of the rules as they are, run once for a seed. */
const sound = new Map<number, Outcome>()

async function soundRun(seed: number): Promise<Outcome> {
  const outcome = sound.get(seed) ?? (await runPure({ seed }))
  sound.set(seed, outcome)
  return outcome
}

describe('a defect that is put in by hand is found', () => {
  it.each(FOUND)('%s: seed %i, %s', async (name, seed, invariant) => {
    const outcome = await runPure({ seed, core: DEFECTS[name] })
    expect(outcome.violation?.invariant).toBe(invariant)
    expect((await soundRun(seed)).violation).toBeUndefined()
  })

  it('all of them are', () => {
    expect(FOUND.map(([name]) => name).sort()).toEqual(Object.keys(DEFECTS).sort())
  })
})
