/**
 * `npm run prove -- sales`: runs seeds of sales under every fault and, on the pure level, each planted defect; or
 * replays one seed with its whole trace.
 */
import { z } from 'zod'
import { importWithout } from '../attacks/without.ts'
import { count, defineProof, type Finding, keepFlag, maybeCount } from '../proof.ts'
import type { LevelName } from '../simulation/levels.ts'
import { levelOption } from '../simulation/prove.ts'
import { prepare } from '../simulation/real/run.ts'
import { openSessions } from '../simulation/real/sessions.ts'
import { withDatabases } from '../simulation/threads.ts'
import { hashOf } from '../simulation/trace.ts'
import { type Fault, REAL_FAULTS, SHARED_FAULTS } from './luck.ts'
import { SALE_DEFECTS } from './planted-defects.ts'
import { runSalesReal } from './real/run.ts'
import type * as PureRunner from './run.ts'
import { runSales, type SalesOutcome } from './run.ts'
import { aKey } from './vault.ts'

/** How many seeds to try for each defect. */
const SEARCHED = 60
const MOST_PRINTED = 20

export const salesProof = defineProof({
  options: z
    .object({
      level: levelOption(),
      seeds: count(200, 'how many seeds'),
      from: count(1, 'the first of them'),
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
  /** The same with changed sources, on the pure level. */
  planted?: (defect: string) => Promise<Run>
  faults: readonly Fault[]
}

async function withRunners<T>(level: LevelName, work: (runners: Runners) => Promise<T>): Promise<T> {
  const key = aKey()
  if (level === 'pure') {
    return work({
      run: (options) => runSales(options, key),
      async planted(defect) {
        const changes = SALE_DEFECTS[defect] ?? []
        const runner = (await importWithout('proofs/sales/run.ts', changes)) as typeof PureRunner
        return (options) => runner.runSales(options, key)
      },
      faults: SHARED_FAULTS,
    })
  }
  return withDatabases(1, async ([url = '']) => {
    await prepare(url)
    const sessions = openSessions(url)
    try {
      return await work({
        run: (options) => runSalesReal({ sessions, url, key, ...options }),
        faults: [...SHARED_FAULTS, ...REAL_FAULTS],
      })
    } finally {
      await sessions.pool.end()
    }
  })
}

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
  const broken: { seed: number; broke: string }[] = []
  const hashes: string[] = []
  let offers = 0
  for (let seed = from; seed < from + seeds; seed += 1) {
    const outcome = await runners.run({ seed })
    for (const [fault, times] of outcome.faults) faults.set(fault, (faults.get(fault) ?? 0) + times)
    hashes.push(outcome.hash)
    offers += outcome.offers
    if (outcome.violation === undefined) continue
    broken.push({ seed, broke: outcome.violation.message })
    console.log(`seed ${seed} broke ${outcome.violation.message}`)
    console.log(`  npm run prove -- sales --level ${level} --seed ${seed}`)
  }
  const unmet = runners.faults.filter((fault) => !faults.has(fault))
  for (const fault of unmet) console.log(`no seed met this fault, so nothing is proved about it: ${fault}`)
  const traceHash = hashOf(hashes)
  console.log(
    `${level}: ${seeds} seeds from ${from}, ${offers} offers, ${broken.length} broken; trace hash ${traceHash}`,
  )
  const { found, missed } = await findDefects(runners)
  const passed = broken.length === 0 && unmet.length === 0 && missed.length === 0
  const run = { level, from, seeds, offers, traceHash, broken: broken.slice(0, MOST_PRINTED) }
  const content = { ...run, unmet, found, missed, faults: Object.fromEntries(faults) }
  return { passed, result: { name: `sales-${level}`, content } }
}

type Found = { defect: string; seed: number; broke: string }

async function findDefects({ planted }: Runners): Promise<{ found: Found[]; missed: string[] }> {
  const found: Found[] = []
  const missed: string[] = []
  if (planted === undefined) return { found, missed }
  for (const defect of Object.keys(SALE_DEFECTS)) {
    const first = await firstFinding(await planted(defect), SEARCHED)
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
