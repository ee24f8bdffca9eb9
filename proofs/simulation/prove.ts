/** `npm run prove -- simulate`: runs seeds of one level, or replays one and prints everything that happened in it. */
import { writeFileSync } from 'node:fs'
import { z } from 'zod'
import { count, defineProof, type Finding, flag, keepFlag, maybeCount } from '../proof.ts'
import { smallestCover } from './cover.ts'
import { elapsedInWords, elapsedOf } from './elapsed.ts'
import type { Fault } from './faults.ts'
import { CHOSEN_SEEDS_FILE, LEVELS, type LevelName, realSeeds, runPureSeed, unmet } from './levels.ts'
import { runSeeds, type SeedOutcome, withDatabases } from './threads.ts'
import { hashOf } from './trace.ts'

/** A result keeps at most this many failing seeds. */
const MOST_KEPT = 20
/** How many times a long run prints its progress. */
const PROGRESS_PARTS = 10

export const levelOption = () =>
  z.enum(['pure', 'real'], 'must be pure or real').default('pure').describe('pure or real (pure)')

const options = z
  .object({
    level: levelOption(),
    seeds: count(50, 'how many seeds'),
    from: count(1, 'the first seed'),
    seed: maybeCount('replay only this seed and print everything that happened'),
    choose: flag(
      'make npm test run the fewest of these seeds that meet every fault (only on the real level)',
    ),
    keep: keepFlag(),
  })
  .refine(({ keep, seed, choose }) => !keep || (seed === undefined && !choose), {
    path: ['keep'],
    message: 'a result covers many seeds, so --keep excludes --seed and --choose',
  })
  .refine(({ keep, level, seeds }) => !keep || seeds >= LEVELS[level].fewestToKeep, {
    path: ['keep'],
    message: `a result needs at least ${LEVELS.pure.fewestToKeep} seeds, or ${LEVELS.real.fewestToKeep} on the real level`,
  })
  .refine(({ choose, level }) => !choose || level === 'real', {
    path: ['choose'],
    message: 'only for the real level, because the pure seeds of npm test are fixed',
  })

export const simulateProof = defineProof({
  options,
  run: ({ level, from, seeds, seed, choose }) =>
    seed === undefined ? simulate({ level, from, count: seeds, choose }) : replay(level, seed),
})

async function replay(level: LevelName, seed: number): Promise<Finding> {
  const outcome = await withDatabases(level === 'real' ? 1 : 0, async (urls) => {
    const run = level === 'pure' ? runPureSeed : await realSeeds(urls)
    return run(seed, { keepTrace: true })
  })
  for (const line of outcome.trace) console.log(line)
  if (outcome.violation !== undefined) console.log(outcome.violation.stack)
  console.log(`seed ${seed}: ${outcome.steps} steps, trace hash ${outcome.hash}`)
  return { passed: outcome.violation === undefined }
}

type Plan = { level: LevelName; from: number; count: number; choose: boolean }

async function simulate({ level, from, count, choose }: Plan): Promise<Finding> {
  const outcomes: SeedOutcome[] = []
  const onOutcome = (outcome: SeedOutcome): void => {
    outcomes.push(outcome)
    if (outcomes.length % Math.ceil(count / PROGRESS_PARTS) === 0) {
      console.log(`${outcomes.length} of ${count}`)
    }
    printViolation(level, outcome)
  }
  const cpuBefore = process.cpuUsage()
  const seeds = Array.from({ length: count }, (_, index) => from + index)
  const wallMs = await runSeeds({ level, seeds, onOutcome })
  const { user, system } = process.cpuUsage(cpuBefore)
  // Threads end in any order, and the hash over all seeds must not depend on that.
  outcomes.sort((one, other) => one.seed - other.seed)
  if (choose) chooseSeeds(outcomes)
  // The processor time of this process without PostgreSQL. On a busy machine it is more meaningful than real time.
  return report({ level, from, outcomes, wallMs, cpuSeconds: Math.round((user + system) / 1e6) })
}

export function printViolation(level: LevelName, { seed, violation }: SeedOutcome): void {
  if (violation === undefined) return
  console.log(`seed ${seed} broke ${violation.message}`)
  console.log(`  npm run prove -- simulate --level ${level} --seed ${seed}`)
}

type Run = {
  level: LevelName
  from: number
  outcomes: readonly SeedOutcome[]
  wallMs: number
  cpuSeconds: number
}

function report({ level, from, outcomes, wallMs, cpuSeconds }: Run): Finding {
  const missing = unmet(level, outcomes)
  const traceHash = hashOf(outcomes.map(({ hash }) => hash))
  const steps = sum(outcomes.map((outcome) => outcome.steps))
  const seconds = Math.round(wallMs / 100) / 10
  const elapsed = elapsedOf(sum(outcomes.map(({ simulatedMs }) => simulatedMs)), wallMs)
  const failing = outcomes.flatMap(({ seed, violation }) =>
    violation === undefined ? [] : [{ seed, broke: violation.message }],
  )
  for (const fault of missing) console.log(`no seed met this fault, so nothing is proved about it: ${fault}`)
  console.log(
    `${level}: ${outcomes.length} seeds from ${from}, ${steps} steps in ${seconds} s, ${failing.length} failing`,
  )
  console.log(elapsedInWords(elapsed))
  console.log(`trace hash ${traceHash}`)
  const content = {
    level,
    from,
    seeds: outcomes.length,
    depositsEach: LEVELS[level].deposits,
    steps,
    traceHash,
    seconds,
    cpuSeconds,
    ...elapsed,
    broken: failing.slice(0, MOST_KEPT),
    faults: totals(outcomes),
    unmet: missing,
  }
  const passed = failing.length === 0 && missing.length === 0
  return { passed, result: { name: `simulate-${level}`, content } }
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

function totals(outcomes: readonly SeedOutcome[]): Record<string, number> {
  const sums = new Map<Fault, number>()
  for (const { faults } of outcomes) {
    for (const [fault, times] of faults) sums.set(fault, (sums.get(fault) ?? 0) + times)
  }
  return Object.fromEntries([...sums].sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Writes the seeds for `npm test`. */
function chooseSeeds(outcomes: readonly SeedOutcome[]): void {
  const sound = outcomes.filter(({ violation }) => violation === undefined)
  const seeds = smallestCover(LEVELS.real.faults, sound)
  if (seeds === undefined)
    throw new Error('the seeds that broke no promise do not meet every fault. Run more seeds.')
  writeFileSync(CHOSEN_SEEDS_FILE, `[${seeds.join(', ')}]\n`)
  console.log(`npm test runs seeds ${seeds.join(', ')} from now on`)
}
