import { describe, expect, it } from 'vitest'
import { DEFECTS, DRIFT_DEFECTS } from './planted-defects.ts'
import { runPure } from './pure/run.ts'

/**
 * The seeds to try for each defect, in order. No defect has a seed of its own, because any change of the till's calls
 * to Steam changes what a seed does.
 */
const SEEDS = Array.from({ length: 60 }, (_, index) => index + 1)
/** Fewer deposits than in `npm run prove -- defects`, so a seed costs less and more seeds can be tried. */
const DEPOSITS = 40

/** The promise that the unchanged rules break, by seed; undefined if none. Each seed runs once. */
const brokenBySoundRun = new Map<number, string | undefined>()

async function runWithoutDefect(seed: number): Promise<string | undefined> {
  if (!brokenBySoundRun.has(seed))
    brokenBySoundRun.set(seed, (await runPure({ seed, deposits: DEPOSITS })).violation?.promiseName)
  return brokenBySoundRun.get(seed)
}

describe('a planted defect is found', () => {
  it.each(Object.entries({ ...DEFECTS, ...DRIFT_DEFECTS }))('%s', async (_name, core) => {
    for (const seed of SEEDS) {
      const { violation } = await runPure({ seed, deposits: DEPOSITS, core })
      if (violation === undefined) continue
      expect(await runWithoutDefect(seed), `seed ${seed} with the unchanged rules`).toBeUndefined()
      return
    }
    expect.unreachable(`none of ${SEEDS.length} seeds finds it`)
  })
})
