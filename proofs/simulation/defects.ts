/** `npm run prove -- defects`: plants each known defect of a level, and searches for the first seed that finds it. */
import { z } from 'zod'
import type { Core } from '../../gateway/trades/core.ts'
import { count, defineProof, type Finding, keepFlag } from '../proof.ts'
import { type LevelName, type RunSeed, realSeeds, runPureSeed } from './levels.ts'
import { DEFECTS, DRIFT_DEFECTS } from './planted-defects.ts'
import { READ_DEFECTS } from './planted-read-defects.ts'
import { levelOption } from './prove.ts'
import type { Reads } from './real/reads.ts'
import { withDatabases } from './threads.ts'

export const defectsProof = defineProof({
  options: z.object({
    level: levelOption(),
    seeds: count(50, 'how many seeds to try for each defect'),
    keep: keepFlag(),
  }),
  run: ({ level, seeds }) => findDefects(level, seeds),
})

type Found = { defect: string; seed: number; broke: string }

async function findDefects(level: LevelName, seeds: number): Promise<Finding> {
  const found: Found[] = []
  const missed: string[] = []
  await withDatabases(level === 'real' ? 1 : 0, async (urls) => {
    const run = level === 'pure' ? runPureSeed : await realSeeds(urls)
    for (const [defect, planted] of plantedOn(level)) {
      const first = await firstFinding(run, planted, seeds)
      if (first === undefined) missed.push(defect)
      else found.push({ defect, ...first })
      console.log(
        first === undefined ? `NOT FOUND: ${defect}` : `seed ${first.seed}, ${defect}: ${first.broke}`,
      )
    }
  })
  console.log(`${level}: ${found.length} of ${found.length + missed.length} defects found`)
  const content = { level, seeds, found, missed }
  return { passed: missed.length === 0, result: { name: `defects-${level}`, content } }
}

type Planted = { core: Core } | { reads: Reads }

/**
 * The defects by name. Only the real level checks what stores and operators read, and only the pure level looks at
 * inventories.
 */
function plantedOn(level: LevelName): [string, Planted][] {
  if (level === 'pure')
    return Object.entries({ ...DEFECTS, ...DRIFT_DEFECTS }).map(([name, core]) => [name, { core }])
  const rules = Object.entries(DEFECTS).map(([name, core]): [string, Planted] => [name, { core }])
  const reads = Object.entries(READ_DEFECTS).map(([name, reads]): [string, Planted] => [name, { reads }])
  return [...rules, ...reads]
}

async function firstFinding(
  run: RunSeed,
  planted: Planted,
  seeds: number,
): Promise<Omit<Found, 'defect'> | undefined> {
  for (let seed = 1; seed <= seeds; seed += 1) {
    const { violation } = await run(seed, planted)
    if (violation !== undefined) return { seed, broke: violation.message }
  }
  return undefined
}
