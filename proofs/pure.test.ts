import { describe, expect, it } from 'vitest'
import { LEVELS, runPureSeed, runSeeds, unmet } from './levels.ts'

const SEEDS = Array.from({ length: 50 }, (_, index) => index + 1)

describe('the pure rules over an oracle of Steam', () => {
  it(`hold for ${SEEDS.length} seeds of ${LEVELS.pure.deposits} deposits, and meet every fault`, async () => {
    const outcomes = await runSeeds(runPureSeed, SEEDS, 1)
    expect(outcomes.flatMap(({ seed, violation }) => (violation ? [{ seed, ...violation }] : []))).toEqual([])
    expect(unmet('pure', outcomes)).toEqual([])
  })

  // Here offers stand when the faults end: who holds the bots then may write to Steam for as long as it takes.
  it.each([1981, 2184])('bring what stands after the faults to its end: seed %i', async (seed) => {
    const outcome = await runPureSeed(seed)
    expect(outcome.violation).toBeUndefined()
  })

  it('do the same for the same seed', async () => {
    const [one, again, other] = await runSeeds(runPureSeed, [3, 3, 4], 1)
    expect(again?.hash).toBe(one?.hash)
    expect(other?.hash).not.toBe(one?.hash)
  })
})
