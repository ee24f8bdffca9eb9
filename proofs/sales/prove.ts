/**
 * `npm run prove -- sales`: runs seeds of sales under the faults of a level, then with each defect that is planted on
 * that level. With `--seed`, it replays one seed and prints its full trace.
 */
import { z } from 'zod'
import type { Key } from '../../vault/files/key.ts'
import type { Change } from '../attacks/attack.ts'
import { importWithout } from '../attacks/without.ts'
import { count, defineProof, type Finding, keepFlag, maybeCount } from '../proof.ts'
import type { LevelName } from '../simulation/levels.ts'
import { levelOption } from '../simulation/prove.ts'
import { prepareDatabase } from '../simulation/real/run.ts'
import { openSessions, type Sessions } from '../simulation/real/sessions.ts'
import { withDatabases } from '../simulation/threads.ts'
import { hashOf } from '../simulation/trace.ts'
import { type Fault, REAL_FAULTS, SHARED_FAULTS } from './luck.ts'
import { SALE_DEFECTS } from './planted-defects.ts'
import { TILL_DEFECTS } from './planted-till-defects.ts'
import type * as RealRunner from './real/run.ts'
import { runSalesReal } from './real/run.ts'
import type * as PureRunner from './run.ts'
import { runSales, type SalesOutcome } from './run.ts'
import { createKey } from './vault.ts'

/** At most this many seeds are tried for each defect. A seed of the real level takes seconds. */
const SEEDS_PER_DEFECT = { pure: 200, real: 40 }
/** The result lists at most this many failing seeds. */
const MOST_LISTED = 20

export const salesProof = defineProof({
  options: z
    .object({
      level: levelOption(),
      seeds: count(200, 'how many seeds'),
      from: count(1, 'the first seed'),
      seed: maybeCount('replay only this seed and print everything that happened'),
      keep: keepFlag(),
    })
    .refine(({ keep, seed }) => !keep || seed === undefined, {
      path: ['keep'],
      message: 'a result covers many seeds, so --keep excludes --seed',
    }),
  run: ({ level, seeds, from, seed }) =>
    withRunners(level, (runners) =>
      seed === undefined ? simulate(runners, { level, from, seeds }) : replay(runners.run, seed),
    ),
})

type Run = (options: { seed: number; keepTrace?: boolean }) => Promise<SalesOutcome>

type Runners = {
  run: Run
  faults: readonly Fault[]
  /** The defects that are planted on this level. */
  defects: Readonly<Record<string, readonly Change[]>>
  /** Loads the same runner from changed sources and passes it to `work`. Resolves to the result of `work`. */
  withChanges<T>(changes: readonly Change[], work: (run: Run) => Promise<T>): Promise<T>
}

async function withRunners<T>(level: LevelName, work: (runners: Runners) => Promise<T>): Promise<T> {
  const key = createKey()
  if (level === 'pure') return work(pureRunners(key))
  return withDatabases(1, async ([url = '']) => {
    await prepareDatabase(url)
    const sessions = openSessions(url)
    try {
      return await work(realRunners({ url, key, sessions }))
    } finally {
      await sessions.pool.end()
    }
  })
}

const pureRunners = (key: Key): Runners => ({
  run: (options) => runSales(options, key),
  faults: SHARED_FAULTS,
  defects: SALE_DEFECTS,
  async withChanges(changes, work) {
    const runner = (await importWithout('proofs/sales/run.ts', changes)) as typeof PureRunner
    return work((options) => runner.runSales(options, key))
  },
})

type Real = { url: string; key: Key; sessions: Sessions }

const realRunners = ({ url, key, sessions }: Real): Runners => ({
  run: (options) => runSalesReal({ sessions, url, key, ...options }),
  faults: [...SHARED_FAULTS, ...REAL_FAULTS],
  defects: TILL_DEFECTS,
  async withChanges(changes, work) {
    const runner = (await importWithout('proofs/sales/real/run.ts', changes)) as typeof RealRunner
    const ownSessions = runner.sessionsOf(url)
    try {
      return await work((options) => runner.runSalesReal({ sessions: ownSessions, url, key, ...options }))
    } finally {
      await ownSessions.pool.end()
    }
  },
})

async function replay(run: Run, seed: number): Promise<Finding> {
  const { trace, violation, hash } = await run({ seed, keepTrace: true })
  for (const line of trace) console.log(line)
  if (violation !== undefined) console.log(violation.stack)
  console.log(`seed ${seed}: trace hash ${hash}`)
  return { passed: violation === undefined }
}

type Plan = { level: LevelName; from: number; seeds: number }

async function simulate(runners: Runners, { level, from, seeds }: Plan): Promise<Finding> {
  const faults = new Map<Fault, number>()
  const failing: { seed: number; broke: string }[] = []
  const hashes: string[] = []
  let offers = 0
  for (let seed = from; seed < from + seeds; seed += 1) {
    const outcome = await runners.run({ seed })
    for (const [fault, times] of outcome.faults) faults.set(fault, (faults.get(fault) ?? 0) + times)
    hashes.push(outcome.hash)
    offers += outcome.offers
    if (outcome.violation === undefined) continue
    failing.push({ seed, broke: outcome.violation.message })
    console.log(`seed ${seed} broke ${outcome.violation.message}`)
    console.log(`  npm run prove -- sales --level ${level} --seed ${seed}`)
  }
  const unmet = runners.faults.filter((fault) => !faults.has(fault))
  for (const fault of unmet) console.log(`no seed met this fault, so nothing is proved about it: ${fault}`)
  const traceHash = hashOf(hashes)
  console.log(
    `${level}: ${seeds} seeds from ${from}, ${offers} offers, ${failing.length} failing; trace hash ${traceHash}`,
  )
  const { found, missed } = await findDefects(runners, SEEDS_PER_DEFECT[level])
  const passed = failing.length === 0 && unmet.length === 0 && missed.length === 0
  const run = { level, from, seeds, offers, traceHash, broken: failing.slice(0, MOST_LISTED) }
  const content = { ...run, unmet, found, missed, faults: Object.fromEntries(faults) }
  return { passed, result: { name: `sales-${level}`, content } }
}

type Found = { defect: string; seed: number; broke: string }

async function findDefects(runners: Runners, seeds: number): Promise<{ found: Found[]; missed: string[] }> {
  const found: Found[] = []
  const missed: string[] = []
  for (const [defect, changes] of Object.entries(runners.defects)) {
    const first = await runners.withChanges(changes, (run) => firstFinding(run, seeds))
    if (first === undefined) missed.push(defect)
    else found.push({ defect, ...first })
    console.log(
      first === undefined ? `NOT FOUND: ${defect}` : `seed ${first.seed}, ${defect}: ${first.broke}`,
    )
  }
  console.log(`${found.length} of ${found.length + missed.length} defects found`)
  return { found, missed }
}

async function firstFinding(run: Run, seeds: number): Promise<Omit<Found, 'defect'> | undefined> {
  for (let seed = 1; seed <= seeds; seed += 1) {
    const { violation } = await run({ seed })
    if (violation !== undefined) return { seed, broke: violation.message }
  }
  return undefined
}
