import { describe, expect, it } from 'vitest'
import { LEVELS, type RunSeed, runPureSeed, runUntilMet, unmet } from './levels.ts'

/** Of the first 25, four together meet every fault; and some more. */
const FIRST = [5, 20, 22, 23, 1, 2, 3, 4, 6, 7]

describe('the pure rules over an oracle of Steam', () => {
  it(`hold for seeds of ${LEVELS.pure.deposits} deposits, and meet every fault`, async () => {
    const outcomes = await runUntilMet('pure', runPureSeed, FIRST)
    expect(outcomes.flatMap(({ seed, violation }) => (violation ? [{ seed, ...violation }] : []))).toEqual([])
    expect(unmet('pure', outcomes)).toEqual([])
  })

  // Here offers are open when the faults end. The holder of the bots then may write to Steam for as long as it takes.
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

describe('seeds are run', () => {
  /** Every seed meets every fault but a crash. */
  const meeting =
    (crashAt: number, brokenAt?: number): RunSeed =>
    async (seed) => ({
      ...{ seed, hash: '', steps: 0, simulatedMs: 0, trace: [] },
      faults: new Map(
        LEVELS.pure.faults
          .filter((fault) => fault !== 'crash' || seed === crashAt)
          .map((fault) => [fault, 1]),
      ),
      ...(seed === brokenAt && { violation: { invariant: 'I1', message: '', stack: '' } }),
    })
  const seedsOf = async (run: RunSeed) => (await runUntilMet('pure', run, [5, 2])).map(({ seed }) => seed)

  it('as they were chosen, when these meet every fault', async () => {
    expect(await seedsOf(meeting(5))).toEqual([5, 2])
  })

  it('beyond the chosen ones, until every fault is met', async () => {
    expect(await seedsOf(meeting(4))).toEqual([5, 2, 1, 3, 4])
  })

  it('until one breaks a promise', async () => {
    expect(await seedsOf(meeting(4, 1))).toEqual([5, 2, 1])
  })

  it('50 at most, and then the fault counts as unmet', async () => {
    const outcomes = await runUntilMet('pure', meeting(99), [5, 2])
    expect(outcomes).toHaveLength(50)
    expect(unmet('pure', outcomes)).toEqual(['crash'])
  })
})
