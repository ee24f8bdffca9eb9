/** A small part of `npm run prove -- year`: no automatic statement has to read a growing table. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTill, type Till } from '../../gateway/testing/till.ts'
import { type Call, callsOf } from './calls.ts'
import { type ObservedPool, observePool } from './explained-pool.ts'
import { fillYear } from './rows.ts'
import { measure } from './till.ts'

const SIZE = { deposits: 2_000, stores: 5, bots: 3 }

let till: Till
let observed: ObservedPool
let calls: Call[]
let close: () => Promise<void>

beforeAll(async () => {
  till = await startTill()
  await fillYear(till.url, SIZE)
  // The planner would read tables this small completely. This setting forbids that, so a full read means a missing
  // index.
  observed = await observePool(till.url, 'set enable_seqscan = off')
  const { calls: all, db } = callsOf(till.deps, observed)
  calls = all
  close = () => db.destroy()
})
afterAll(async () => {
  await close()
  await till.close()
})

test('every automatic statement has an index', async () => {
  const complaints: string[] = []
  let statements = 0
  for (const call of calls) {
    const measured = await measure(call, observed)
    statements += measured.statements
    complaints.push(...measured.complaints.map((one) => `${call.name} ${one}`))
  }
  expect(complaints).toEqual([])
  expect(statements).toBeGreaterThan(200)
  expect(till.lines.filter((line) => line.includes('the ledger does not agree'))).toEqual([])
})
