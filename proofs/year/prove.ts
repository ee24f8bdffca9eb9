/** `npm run prove -- year`: runs every automatic statement on a year of rows. */
import { cpus, totalmem } from 'node:os'
import { z } from 'zod'
import { counted } from '../../gateway/kit/counted.ts'
import { count, defineProof, keepFlag } from '../proof.ts'
import { withServer } from '../server.ts'
import type { Size } from './rows.ts'
import { type Measured, measure, openYear } from './till.ts'

/** The most time for all statements of a task, even on a busy machine. A task with `readsAll` has no limit. */
const MOST_MS = 1_000

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
  await using year = await openYear(url, size)
  const { tasks, observed, lines, bytesPerDeposit } = year
  const measured: Measured[] = []
  for (const task of tasks) {
    const result = await measure(task, observed)
    measured.push(result)
    const figures = `${result.name}: ${result.statements} statements, ${result.ms.toFixed(0)} ms`
    console.log([figures, ...result.complaints].join('; '))
    if (result.ms > MOST_MS)
      console.log(`  the slowest took ${result.slowest.ms.toFixed(0)} ms: ${result.slowest.text}`)
  }
  const slow = measured.filter(({ ms, readsAll }) => ms > MOST_MS && !readsAll)
  const complaints = measured.flatMap(({ name, complaints: found }) =>
    found.map((complaint) => `${name} ${complaint}`),
  )
  const differences = lines.filter((line) => line.includes('the ledger does not agree'))
  const passed = slow.length === 0 && complaints.length === 0 && differences.length === 0
  console.log(
    `year: ${slow.length} slow, ${complaints.length} reading a whole table, ` +
      `${counted(differences.length, 'difference')} of the ledger ${passed ? 'PASS' : 'FAIL'}`,
  )
  const machine = { cores: cpus().length, memoryGiB: Math.round(totalmem() / 2 ** 30) }
  const content = { passed, ...size, machine, bytesPerDeposit, measured, complaints, differences }
  return { passed, result: { name: 'year', content } }
}
