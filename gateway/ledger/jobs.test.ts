import { sql } from 'kysely'
import type pg from 'pg'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createMetrics } from '../metrics.ts'
import { testPool } from '../testing/pool.ts'
import { startTill, type Till } from '../testing/till.ts'
import { endCompleteCheck, readCheck } from './check-store.ts'
import { checkLedger } from './jobs.ts'

let till: Till
let pool: pg.Pool

beforeEach(async () => {
  till = await startTill()
  pool = testPool(till.url)
})
afterEach(async () => {
  await pool.end()
  await till.close()
})

it.each([
  ['a complete check', 'complete_at'],
  ['a complete check that did not end', 'begun_at'],
  ['the claim of a killed process', 'taken_until'],
] as const)(
  'after the database’s clock was set back, %s from the future delays no check',
  async (_, column) => {
    const metrics = createMetrics()
    const check = () => checkLedger({ pool, log: till.deps.log, metrics })
    const differences = async () => (await metrics.ledgerDifferences.get()).values[0]?.value
    await check()
    expect(await differences()).toBe(0)
    await sql`
    update ledger_check set complete_at = now() - interval '2 days', begun_at = now() - interval '2 days'`.execute(
      till.db,
    )
    await sql`update ledger_check set ${sql.ref(column)} = now() + interval '3 days'`.execute(till.db)
    await till.db.insertInto('account').values({ kind: 'commission', currency: 'USD', balance: 1n }).execute()
    await check()
    // The balance differs from its entries, and the sum of all balances from zero.
    expect(await differences()).toBe(2)
  },
)

it('a complete check counts as ended if the database’s clock was set back while it ran', async () => {
  const metrics = createMetrics()
  await checkLedger({ pool, log: till.deps.log, metrics })
  await sql`update ledger_check set begun_at = now() + interval '1 minute'`.execute(till.db)
  const client = await pool.connect()
  await endCompleteCheck(client, '0', 0)
  expect(await readCheck(client)).toMatchObject({ isIncomplete: false, isCompleteDue: false })
  client.release()
})

it('the ledger counts as not checked while the last complete check has a time from before the clock was set back', async () => {
  const metrics = createMetrics()
  await checkLedger({ pool, log: till.deps.log, metrics })
  await sql`update ledger_check set complete_at = now() + interval '3 days', begun_at = now()`.execute(
    till.db,
  )
  const client = await pool.connect()
  expect(await readCheck(client)).toMatchObject({ isIncomplete: true })
  client.release()
})
