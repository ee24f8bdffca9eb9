import { describe, expect, it } from 'vitest'
import { LEVELS, runPureSeed, runUntilMet, unmet } from './levels.ts'

const FIRST = Array.from({ length: 10 }, (_, index) => index + 1)

describe('the pure rules over an oracle of Steam', () => {
  it(`hold for seeds of ${LEVELS.pure.deposits} deposits, and meet every fault`, async () => {
    const outcomes = await runUntilMet('pure', runPureSeed, FIRST)
    expect(outcomes.flatMap(({ seed, violation }) => (violation ? [{ seed, ...violation }] : []))).toEqual([])
    expect(unmet('pure', outcomes)).toEqual([])
  })

  // Here offers stand when the faults end: who holds the bots then may write to Steam for as long as it takes.
  it.each([1981, 2184])('bring what stands after the faults to its end: seed %i', async (seed) => {
    const outcome = await runPureSeed(seed)
    expect(outcome.violation).toBeUndefined()
  })

  it('do the same for the same seed', async () => {
    const [one, again, other] = [await runPureSeed(3), await runPureSeed(3), await runPureSeed(4)]
    expect(again.hash).toBe(one.hash)
    expect(other.hash).not.toBe(one.hash)
  })
})
