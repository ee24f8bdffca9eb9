import { describe, expect, it } from 'vitest'
import type { Outcome } from './outcome.ts'
import { DEFECTS } from './pure/defects.ts'
import { runPure } from './pure/run.ts'

/** A seed that finds the defect, and the promise that it breaks there. The rules as they are hold for all of them. */
const FOUND = [
  ['two watchers credit one exchange', 1, 'I6'],
  ['an offer in state 3 is credited without proof', 1, 'I7'],
  ['the deadline ends a trade without reading back', 1, 'I7'],
  ['an unknown send is sent again', 1, 'I8'],
  ['a late acceptance is ignored', 1, 'I7'],
  ['a bad end is believed at the first word', 2, 'I7'],
  ['what is left of a reversed exchange is not credited', 2, 'I12'],
  ['a reversal is forgotten', 1, 'I13'],
  ['funds are released whatever Steam says', 1, 'I7'],
] as const satisfies readonly [keyof typeof DEFECTS, number, string][]

/** Of the rules as they are, run once for a seed. */
const sound = new Map<number, Outcome>()

function soundRun(seed: number): Outcome {
  const outcome = sound.get(seed) ?? runPure({ seed })
  sound.set(seed, outcome)
  return outcome
}

describe('a defect that is put in by hand is found', () => {
  it.each(FOUND)('%s: seed %i, %s', (name, seed, invariant) => {
    expect(runPure({ seed, core: DEFECTS[name] }).violation?.invariant).toBe(invariant)
    expect(soundRun(seed).violation).toBeUndefined()
  })

  it('all of them are', () => {
    expect(FOUND.map(([name]) => name).sort()).toEqual(Object.keys(DEFECTS).sort())
  })
})
