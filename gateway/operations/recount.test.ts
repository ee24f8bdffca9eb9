import type pg from 'pg'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { readNeeds } from '../alerts/needs-store.ts'
import { beginCompleteCheck, endCompleteCheck, readCheck } from '../ledger/check-store.ts'
import { checkLedger } from '../ledger/jobs.ts'
import { createMetrics } from '../metrics.ts'
import { operatorOf } from '../testing/operator.ts'
import { payFor } from '../testing/payment.ts'
import { testPool } from '../testing/pool.ts'
import { aBot, aDeposit, aStore, startTill, type Till } from '../testing/till.ts'
import { recount } from './restore.ts'

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

it('after a recount corrects a bot’s item count, the next check of the ledger ends the alert', async () => {
  const metrics = createMetrics()
  const differences = async () => {
    await checkLedger({ pool, log: till.deps.log, metrics })
    const { ledgerDifferences } = await readNeeds(till.db)
    return { ofMetrics: (await metrics.ledgerDifferences.get()).values[0]?.value, ofNeeds: ledgerDifferences }
  }
  await payFor(till, await aBot(till), await aDeposit(till, await aStore(till)))
  await till.db.updateTable('bot').set({ items_held: 7 }).execute()
  expect(await differences()).toEqual({ ofMetrics: 1, ofNeeds: 1 })
  expect(await recount(operatorOf(till, 'wrong number'))).toMatchObject({ kind: 'done', data: { bots: 1 } })
  expect(await differences()).toEqual({ ofMetrics: 0, ofNeeds: 0 })
})

it('after a recount during a complete check of the ledger, another complete check is due at once', async () => {
  await checkLedger({ pool, log: till.deps.log, metrics: createMetrics() })
  const client = await pool.connect()
  await beginCompleteCheck(client)
  await recount(operatorOf(till, 'wrong number'))
  await endCompleteCheck(client, '0', 1)
  expect(await readCheck(client)).toMatchObject({ completeAtS: null, isCompleteDue: true })
  client.release()
})
