/**
 * `npm run simulate -- --level pure --seeds 10000`: runs seeds and writes what they came to into results/.
 * `--from N`: the first seed (1). `--seed N`: replays that one alone and prints all that happened.
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import type { Fault } from './faults.ts'
import { LEVELS, type LevelName, openPure, unmet } from './levels.ts'
import type { Outcome } from './outcome.ts'
import { writeResult } from './result.ts'
import { hashOf } from './trace.ts'

const THREADS = 2
const MOST_TOLD = 20
/** Shorter runs are trials: their result is not kept. */
const KEPT_FROM = { pure: 1_000 } as const satisfies Record<LevelName, number>

const { values } = parseArgs({
  options: {
    level: { type: 'string', default: 'pure' },
    seeds: { type: 'string', default: '50' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
  },
})

function levelOf(name: string): LevelName {
  const level = LEVELS.find((known) => known === name)
  if (level === undefined) throw new Error(`There is no level ${name}: ${LEVELS.join(', ')}`)
  return level
}

function numberOf(text: string): number {
  const number = Number(text)
  if (!Number.isSafeInteger(number) || number < 1) throw new Error(`${text} is not a number of 1 or more`)
  return number
}

async function replay(seed: number): Promise<boolean> {
  const level = openPure()
  const outcome = await level.run(seed, { keepTrace: true })
  await level.close()
  for (const line of outcome.trace) console.log(line)
  if (outcome.violation !== undefined) console.log(outcome.violation.stack)
  console.log(`seed ${seed}: ${outcome.steps} steps, trace hash ${outcome.hash}`)
  return outcome.violation === undefined
}

/** Gives every thread a new seed as soon as it is done with the last one. */
async function runAll(seeds: readonly number[], tell: (outcome: Outcome) => void): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  const waiting = seeds.values()
  const serve = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const worker = new Worker(join(import.meta.dirname, 'simulate-worker.ts'))
      const next = () => worker.postMessage(waiting.next().value ?? 'end')
      worker.on('message', (outcome: Outcome) => {
        outcomes.push(outcome)
        tell(outcome)
        next()
      })
      worker.on('error', reject)
      worker.on('exit', () => resolve())
      next()
    })
  await Promise.all(Array.from({ length: Math.min(THREADS, seeds.length) }, serve))
  return outcomes.sort((one, other) => one.seed - other.seed)
}

function tellViolation(level: LevelName, { seed, violation }: Outcome): void {
  if (violation === undefined) return
  console.log(`seed ${seed} broke ${violation.message}`)
  console.log(`  npm run simulate -- --level ${level} --seed ${seed}`)
}

function totals(outcomes: readonly Outcome[]): Record<string, number> {
  const sums = new Map<Fault, number>()
  for (const { faults } of outcomes) {
    for (const [fault, times] of faults) sums.set(fault, (sums.get(fault) ?? 0) + times)
  }
  return Object.fromEntries([...sums].sort(([a], [b]) => (a < b ? -1 : 1)))
}

async function simulate(level: LevelName, from: number, count: number): Promise<boolean> {
  const begin = performance.now()
  let told = 0
  const outcomes = await runAll(
    Array.from({ length: count }, (_, index) => from + index),
    (outcome) => {
      if (outcome.violation !== undefined && told < MOST_TOLD) tellViolation(level, outcome)
      if (outcome.violation !== undefined) told += 1
    },
  )
  const seconds = Math.round((performance.now() - begin) / 100) / 10
  const broken = outcomes.filter(({ violation }) => violation !== undefined)
  const missing = unmet(openPure(), outcomes)
  const hash = hashOf(outcomes.map((outcome) => outcome.hash))
  const steps = outcomes.reduce((sum, outcome) => sum + outcome.steps, 0)
  for (const fault of missing) console.log(`no seed met this fault, so nothing is proved of it: ${fault}`)
  console.log(
    `${level}: ${count} seeds from ${from}, ${steps} steps in ${seconds} s, ${broken.length} broken`,
  )
  console.log(`trace hash ${hash}`)
  const result = {
    ...{ level, from, seeds: count, depositsEach: openPure().deposits, steps, seconds, traceHash: hash },
    broken: broken.slice(0, MOST_TOLD).map(({ seed, violation }) => ({ seed, broke: violation?.message })),
    faults: totals(outcomes),
    unmet: missing,
  }
  if (count >= KEPT_FROM[level]) writeResult(`simulate-${level}`, result)
  return broken.length === 0 && missing.length === 0
}

const level = levelOf(values.level)
const isFine =
  values.seed === undefined
    ? await simulate(level, numberOf(values.from), numberOf(values.seeds))
    : await replay(numberOf(values.seed))
process.exitCode = isFine ? 0 : 1
