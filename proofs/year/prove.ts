/** `npm run prove -- year`: a year of rows, and every statement that runs without a person on them. */
import { cpus, totalmem } from 'node:os'
import { z } from 'zod'
import { createQueue } from '../../gateway/db/boss-queue.ts'
import { openDatabase } from '../../gateway/db/client.ts'
import { migrate } from '../../gateway/db/migrate.ts'
import { createSignals } from '../../gateway/db/pg-signals.ts'
import { captureLog } from '../../gateway/testing/log.ts'
import { tillOn } from '../../gateway/testing/till.ts'
import { count, defineProof, keepFlag } from '../proof.ts'
import { withServer } from '../server.ts'
import { type Call, callsOf } from './calls.ts'
import { type Asked, type ObservedPool, observePool } from './observed.ts'
import { fillYear, type Size } from './rows.ts'

/** No sweep asks for longer, even on a machine that does other things. */
const MOST_MS = 1_000

export type Measured = {
  name: string
  statements: number
  ms: number
  readsAll: boolean
  complaints: string[]
  slowest: { ms: number; text: string }
}

export const yearProof = defineProof({
  options: z.object({
    deposits: count(1_000_000, 'how many deposits the year had'),
    stores: count(500, 'how many stores'),
    bots: count(50, 'how many bots'),
    keep: keepFlag(),
  }),
  run: ({ deposits, stores, bots }) => withServer((url) => proveYear(url, { deposits, stores, bots })),
})

async function proveYear(url: string, size: Size) {
  await migrate({ url })
  const { log, lines } = captureLog()
  const [queue, signals, database] = await Promise.all([
    createQueue({ url, log }),
    createSignals({ url, log }),
    openDatabase(url, 1),
  ])
  const till = await tillOn({ db: database.db, url, queue, signals, log, lines, close: async () => {} })
  const begun = performance.now()
  const bytes = await fillYear(url, size)
  const filledS = (performance.now() - begun) / 1_000
  const perDeposit = Math.round(bytes / size.deposits)
  console.log(`year: ${size.deposits} deposits in ${filledS.toFixed(0)} s, ${perDeposit} bytes each`)
  const observed = await observePool(url)
  const { calls, db } = callsOf(till.deps, observed)
  const measured: Measured[] = []
  for (const call of calls) {
    const one = await measure(call, observed)
    measured.push(one)
    const figures = `${one.name}: ${one.statements} statements, ${one.ms.toFixed(0)} ms`
    console.log([figures, ...one.complaints].join('; '))
    if (one.ms > MOST_MS)
      console.log(`  the slowest took ${one.slowest.ms.toFixed(0)} ms: ${one.slowest.text}`)
  }
  await db.destroy()
  await Promise.all([queue.stop(), signals.close(), database.close()])
  const slow = measured.filter(({ ms, readsAll }) => ms > MOST_MS && !readsAll)
  const complaints = measured.flatMap(({ name, complaints: own }) => own.map((one) => `${name} ${one}`))
  const differences = lines.filter((line) => line.includes('the ledger does not agree'))
  const passed = slow.length === 0 && complaints.length === 0 && differences.length === 0
  console.log(`year: ${slow.length} slow, ${complaints.length} that read a table ${passed ? 'PASS' : 'FAIL'}`)
  const machine = { cores: cpus().length, memoryGiB: Math.round(totalmem() / 2 ** 30) }
  const content = { passed, ...size, machine, bytesPerDeposit: perDeposit, measured, complaints, differences }
  return { passed, result: { name: 'year', content } }
}

/** Only what the statements take, without their explanation. */
export async function measure(
  { name, readsAll = false, run }: Call,
  { taken }: ObservedPool,
): Promise<Measured> {
  taken()
  await run()
  const asked = taken()
  return {
    name,
    statements: asked.length,
    ms: asked.reduce((sum: number, { ms }: Asked) => sum + ms, 0),
    readsAll,
    slowest: asked.reduce((slowest, { ms, text }) => (ms > slowest.ms ? { ms, text } : slowest), {
      ms: 0,
      text: '',
    }),
    complaints: readsAll ? [] : [...new Set(asked.flatMap(({ complaints }) => complaints))],
  }
}
