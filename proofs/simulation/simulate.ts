/**
 * `npm run simulate -- --level pure --seeds 10000`: runs seeds; long runs write what they came to into results/.
 * `--from N`: the first seed (1). `--seed N`: replays that one alone and prints all that happened. `--choose`, on the
 * real level: of the seeds that were run, keeps the fewest that together meet every fault; `npm test` runs these.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import type { Fault } from '../faults.ts'
import { CHOSEN_SEEDS_FILE, LEVELS, type LevelName, realSeeds, runPureSeed, unmet } from '../levels.ts'
import type { Outcome } from '../outcome.ts'
import { openServers } from '../real/servers.ts'
import { writeResult } from '../result.ts'
import { hashOf } from '../trace.ts'
import { smallestCover } from './cover.ts'

const THREADS = 2
const MOST_TOLD = 20
/** How often a long run tells how far it is. */
const TOLD_PARTS = 10

const { values } = parseArgs({
  options: {
    level: { type: 'string', default: 'pure' },
    seeds: { type: 'string', default: '50' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    choose: { type: 'boolean', default: false },
  },
})

function levelOf(name: string): LevelName {
  if (name === 'pure' || name === 'real') return name
  throw new Error(`There is no level ${name}, only pure and real`)
}

function numberOf(text: string): number {
  const number = Number(text)
  if (!Number.isSafeInteger(number) || number < 1) throw new Error(`${text} is not a number of 1 or more`)
  return number
}

async function withDatabases<T>(count: number, work: (urls: string[]) => Promise<T>): Promise<T> {
  const { urls, close } = await openServers(count)
  return work(urls).finally(close)
}

async function replay(level: LevelName, seed: number): Promise<boolean> {
  const outcome = await withDatabases(level === 'real' ? 1 : 0, async (urls) => {
    const run = level === 'pure' ? runPureSeed : await realSeeds(urls)
    return run(seed, { keepTrace: true })
  })
  for (const line of outcome.trace) console.log(line)
  if (outcome.violation !== undefined) console.log(outcome.violation.stack)
  console.log(`seed ${seed}: ${outcome.steps} steps, trace hash ${outcome.hash}`)
  return outcome.violation === undefined
}

type Plan = { level: LevelName; seeds: readonly number[]; tell: (outcome: Outcome) => void }

/** Gives every thread a new seed as soon as it is done with one. */
async function runAll({ level, seeds, tell }: Plan, urls: readonly string[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  const waiting = seeds.values()
  const { lanes } = LEVELS[level]
  const serve = (_: unknown, thread: number): Promise<void> =>
    new Promise((resolve, reject) => {
      const workerData = { level, urls: urls.slice(thread * lanes, (thread + 1) * lanes) }
      const worker = new Worker(join(import.meta.dirname, 'worker.ts'), { workerData })
      let running = 0
      const next = () => {
        const seed = waiting.next().value
        if (seed !== undefined) {
          running += 1
          worker.postMessage(seed)
        } else if (running === 0) worker.postMessage('end')
      }
      worker.on('message', (outcome: Outcome) => {
        running -= 1
        outcomes.push(outcome)
        tell(outcome)
        next()
      })
      worker.on('error', reject)
      worker.on('exit', () => resolve())
      for (let lane = 0; lane < lanes; lane += 1) next()
    })
  await Promise.all(Array.from({ length: THREADS }, serve))
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
  const { lanes, deposits, keptFrom } = LEVELS[level]
  const seeds = Array.from({ length: count }, (_, index) => from + index)
  let [done, told] = [0, 0]
  const tell = (outcome: Outcome) => {
    done += 1
    if (done % Math.ceil(count / TOLD_PARTS) === 0) console.log(`${done} of ${count}`)
    if (outcome.violation === undefined) return
    told += 1
    if (told <= MOST_TOLD) tellViolation(level, outcome)
  }
  let seconds = 0
  const cpuBefore = process.cpuUsage()
  const outcomes = await withDatabases(level === 'real' ? lanes * THREADS : 0, async (urls) => {
    const begin = performance.now()
    const all = await runAll({ level, seeds, tell }, urls)
    seconds = Math.round((performance.now() - begin) / 100) / 10
    return all
  })
  const { user, system } = process.cpuUsage(cpuBefore)
  const missing = unmet(level, outcomes)
  const hash = hashOf(outcomes.map((outcome) => outcome.hash))
  const steps = outcomes.reduce((sum, outcome) => sum + outcome.steps, 0)
  for (const fault of missing) console.log(`no seed met this fault, so nothing is proved of it: ${fault}`)
  console.log(`${level}: ${count} seeds from ${from}, ${steps} steps in ${seconds} s, ${told} broken`)
  console.log(`trace hash ${hash}`)
  const broken = outcomes.flatMap(({ seed, violation }) =>
    violation ? [{ seed, broke: violation.message }] : [],
  )
  const result = {
    ...{ level, from, seeds: count, depositsEach: deposits, steps, traceHash: hash },
    // Of this process without PostgreSQL: on a busy machine it says more than the time on the wall.
    ...{ seconds, cpuSeconds: Math.round((user + system) / 1e6) },
    ...{ broken: broken.slice(0, MOST_TOLD), faults: totals(outcomes), unmet: missing },
  }
  if (values.choose) choose(level, outcomes)
  else if (count >= keptFrom) writeResult(`simulate-${level}`, result)
  return told === 0 && missing.length === 0
}

/** Writes the seeds that `npm test` is to run. */
function choose(level: LevelName, outcomes: readonly Outcome[]): void {
  if (level !== 'real')
    throw new Error('--choose is for the real level: npm test runs every pure seed it can')
  const sound = outcomes.filter(({ violation }) => violation === undefined)
  const seeds = smallestCover(LEVELS[level].faults, sound)
  if (seeds === undefined) throw new Error('these seeds do not meet every fault: run more of them')
  writeFileSync(CHOSEN_SEEDS_FILE, `${JSON.stringify(seeds)}\n`)
  console.log(`npm test runs seeds ${seeds.join(', ')} from now on`)
}

const level = levelOf(values.level)
const isFine =
  values.seed === undefined
    ? await simulate(level, numberOf(values.from), numberOf(values.seeds))
    : await replay(level, numberOf(values.seed))
process.exitCode = isFine ? 0 : 1
