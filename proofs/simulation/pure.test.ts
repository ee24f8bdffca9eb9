import { describe, expect, it } from 'vitest'
import { LEVELS, type RunSeed, runPureSeed, runUntilMet, unmet } from './levels.ts'

/** The first four, from the seeds 1 to 25, together meet every fault. The other six are the smallest of the rest. */
const FIRST = [5, 16, 18, 22, 1, 2, 3, 4, 6, 7]

describe('the pure rules on a simulated Steam', () => {
  it(`keep every promise over seeds that together meet every fault, with ${LEVELS.pure.deposits} deposits each`, async () => {
    const outcomes = await runUntilMet('pure', runPureSeed, FIRST)
    expect(outcomes.flatMap(({ seed, violation }) => (violation ? [{ seed, ...violation }] : []))).toEqual([])
    expect(unmet('pure', outcomes)).toEqual([])
  })

  // In these seeds, offers are open when the faults end. The process that holds the bots then needs its leases until
  // these offers end.
  it.each([1981, 2184])('end everything that is open when the faults end: seed %i', async (seed) => {
    const outcome = await runPureSeed(seed)
    expect(outcome.violation).toBeUndefined()
  })

  it('give the same trace for the same seed', async () => {
    const [first, repeated, other] = [await runPureSeed(3), await runPureSeed(3), await runPureSeed(4)]
    expect(repeated.hash).toBe(first.hash)
    expect(other.hash).not.toBe(first.hash)
  })
})

describe('a run of seeds', () => {
  /**
   * Every seed meets all faults except the crash, which only the seed `crashSeed` meets. The seed `brokenSeed` breaks
   * a promise.
   */
  const runnerWith =
    (crashSeed: number, brokenSeed?: number): RunSeed =>
    async (seed) => ({
      seed,
      hash: '',
      steps: 0,
      simulatedMs: 0,
      trace: [],
      faults: new Map(
        LEVELS.pure.faults
          .filter((fault) => fault !== 'crash' || seed === crashSeed)
          .map((fault) => [fault, 1]),
      ),
      ...(seed === brokenSeed && { violation: { promiseName: 'I1', message: '', stack: '' } }),
    })
  const seedsOf = async (run: RunSeed) => (await runUntilMet('pure', run, [5, 2])).map(({ seed }) => seed)

  it('runs the chosen seeds only, if they meet every fault', async () => {
    expect(await seedsOf(runnerWith(5))).toEqual([5, 2])
  })

  it('continues beyond the chosen seeds until every fault is met', async () => {
    expect(await seedsOf(runnerWith(4))).toEqual([5, 2, 1, 3, 4])
  })

  it('stops when a promise is broken', async () => {
    expect(await seedsOf(runnerWith(4, 1))).toEqual([5, 2, 1])
  })

  it('stops after 50 seeds, and counts a fault that no seed met as unmet', async () => {
    const outcomes = await runUntilMet('pure', runnerWith(99), [5, 2])
    expect(outcomes).toHaveLength(50)
    expect(unmet('pure', outcomes)).toEqual(['crash'])
  })
})
