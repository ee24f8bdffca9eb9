/** `npm run prove -- sales`: seeds of sales under every fault, then each planted defect. Or one seed, with all that happened in it. */
import { z } from 'zod'
import { importWithout } from '../attacks/without.ts'
import { count, defineProof, type Finding, keepFlag, maybeCount } from '../proof.ts'
import { hashOf } from '../simulation/trace.ts'
import { FAULTS, type Fault } from './luck.ts'
import { SALE_DEFECTS } from './planted-defects.ts'
import type * as Runner from './run.ts'
import { runSales } from './run.ts'
import { aKey } from './vault.ts'

/** How many seeds are searched for a defect. */
const SEARCHED = 60
const MOST_PRINTED = 20

export const salesProof = defineProof({
  options: z
    .object({
      seeds: count(200, 'how many seeds'),
      from: count(1, 'the first of them'),
      seed: maybeCount('replay this one alone and print all that happened'),
      keep: keepFlag(),
    })
    .refine(({ keep, seed }) => !keep || seed === undefined, {
      path: ['keep'],
      message: 'a result is of many seeds: --seed has none',
    }),
  run: ({ seeds, from, seed }) => (seed === undefined ? simulate(from, seeds) : replay(seed)),
})

async function replay(seed: number): Promise<Finding> {
  const { trace, violation, hash } = await runSales({ seed, keepTrace: true })
  for (const line of trace) console.log(line)
  if (violation !== undefined) console.log(violation.stack)
  console.log(`seed ${seed}: trace hash ${hash}`)
  return { passed: violation === undefined }
}

async function simulate(from: number, seeds: number): Promise<Finding> {
  const key = aKey()
  const faults = new Map<Fault, number>()
  const broken: { seed: number; broke: string }[] = []
  const hashes: string[] = []
  let offers = 0
  for (let seed = from; seed < from + seeds; seed += 1) {
    const outcome = await runSales({ seed }, key)
    for (const [fault, times] of outcome.faults) faults.set(fault, (faults.get(fault) ?? 0) + times)
    hashes.push(outcome.hash)
    offers += outcome.offers
    if (outcome.violation === undefined) continue
    broken.push({ seed, broke: outcome.violation.message })
    console.log(`seed ${seed} broke ${outcome.violation.message}`)
    console.log(`  npm run prove -- sales --seed ${seed}`)
  }
  const unmet = FAULTS.filter((fault) => !faults.has(fault))
  for (const fault of unmet) console.log(`no seed met this fault, so nothing is proved of it: ${fault}`)
  const traceHash = hashOf(hashes)
  console.log(
    `${seeds} seeds from ${from}, ${offers} offers, ${broken.length} broken; trace hash ${traceHash}`,
  )
  const { found, missed } = await findDefects()
  console.log(`${found.length} of ${found.length + missed.length} defects found`)
  const passed = broken.length === 0 && unmet.length === 0 && missed.length === 0
  const content = {
    from,
    seeds,
    offers,
    traceHash,
    broken: broken.slice(0, MOST_PRINTED),
    unmet,
    found,
    missed,
  }
  return { passed, result: { name: 'sales', content: { ...content, faults: Object.fromEntries(faults) } } }
}

type Found = { defect: string; seed: number; broke: string }

async function findDefects(): Promise<{ found: Found[]; missed: string[] }> {
  const found: Found[] = []
  const missed: string[] = []
  for (const [defect, changes] of Object.entries(SALE_DEFECTS)) {
    const runner = (await importWithout('proofs/sales/run.ts', changes)) as typeof Runner
    const first = await firstFinding(runner)
    if (first === undefined) missed.push(defect)
    else found.push({ defect, ...first })
    console.log(
      first === undefined ? `NOT FOUND: ${defect}` : `seed ${first.seed}, ${defect}: ${first.broke}`,
    )
  }
  return { found, missed }
}

async function firstFinding(runner: typeof Runner): Promise<Omit<Found, 'defect'> | undefined> {
  const key = aKey()
  for (let seed = 1; seed <= SEARCHED; seed += 1) {
    const { violation } = await runner.runSales({ seed }, key)
    if (violation !== undefined) return { seed, broke: violation.message }
  }
  return undefined
}
