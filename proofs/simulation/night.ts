/** `npm run prove -- night --hours N`: runs new seeds until its time is up, and stores those that fail. */
import { randomInt } from 'node:crypto'
import { join, relative } from 'node:path'
import { z } from 'zod'
import { defineProof, type Finding, keepFlag } from '../proof.ts'
import { commitOf } from '../results.ts'
import { elapsedInWords, elapsedOf } from './elapsed.ts'
import { keepFailingSeed } from './failing-seeds.ts'
import type { LevelName } from './levels.ts'
import { levelOption, printViolation } from './prove.ts'
import { runSeeds, type SeedOutcome } from './threads.ts'

const ROOT = join(import.meta.dirname, '../..')
/** Not in proofs/results/, which takes only results of a clean tree: a failing seed is worth keeping from any tree. */
const FAILING_SEEDS = join(ROOT, '.data/failing-seeds.json')
const HOUR_MS = 3_600_000
/** How many times a night prints its progress, at most. */
const PROGRESS_PARTS = 20
/** By default, other commands use lower seeds. */
const FIRST_SEED = 1_000_000
/** A seed has 32 bits. */
const LAST_SEED = 2 ** 32 - 1

export const nightProof = defineProof({
  options: z.object({
    hours: z
      .string()
      .regex(/^(\d{1,4}|\d{0,4}\.\d{1,4})$/, 'must be a number of hours')
      .transform(Number)
      .default(8)
      .describe('for how many hours to begin new seeds (8)'),
    level: levelOption(),
    keep: keepFlag(),
  }),
  run: ({ hours, level }) => night(level, hours),
})

async function night(level: LevelName, hours: number): Promise<Finding> {
  const beganMs = performance.now()
  const lengthMs = hours * HOUR_MS
  const commit = commitOf(ROOT)
  const isOver = (): boolean => performance.now() - beganMs >= lengthMs
  const total = { seeds: 0, steps: 0, simulatedMs: 0, failing: 0 }
  let progress = 0
  const onOutcome = (outcome: SeedOutcome): void => {
    total.seeds += 1
    total.steps += outcome.steps
    total.simulatedMs += outcome.simulatedMs
    noteViolation(outcome)
    const part = Math.floor(((performance.now() - beganMs) / lengthMs) * PROGRESS_PARTS)
    if (part > progress) console.log(`${total.seeds} seeds, ${total.failing} failing`)
    progress = Math.max(progress, part)
  }
  const noteViolation = (outcome: SeedOutcome): void => {
    const { seed, violation } = outcome
    if (violation === undefined) return
    total.failing += 1
    printViolation(level, outcome)
    const at = new Date().toISOString()
    keepFailingSeed(FAILING_SEEDS, { level, seed, broke: violation.message, commit, at })
  }
  const wallMs = await runSeeds({ level, seeds: newSeeds(isOver), onOutcome })
  const elapsed = elapsedOf(total.simulatedMs, wallMs)
  const { seeds, steps, failing } = total
  console.log(`${level}: ${seeds} new seeds, ${steps} steps, ${failing} failing`)
  console.log(elapsedInWords(elapsed))
  if (failing > 0) console.log(`the failing seeds are in ${relative(ROOT, FAILING_SEEDS)}`)
  const content = { level, hours, seeds, steps, ...elapsed, broken: failing }
  return { passed: failing === 0, result: { name: `night-${level}`, content } }
}

/** Yields new seeds until `isOver`, but at least one. */
export function* newSeeds(isOver: () => boolean): Generator<number> {
  do yield randomInt(FIRST_SEED, LAST_SEED)
  while (!isOver())
}
