import { afterEach, beforeEach, expect, test } from 'vitest'
import { openDatabase } from '../db/client.ts'
import { recordPayout } from '../ledger/payout.ts'
import { verifyLedger } from '../ledger/verify.ts'
import { payFor } from '../testing/payment.ts'
import { type StoreApi, startStoreApi } from '../testing/store-api.ts'
import { aBot, aDeposit, startTill, type Till } from '../testing/till.ts'

let till: Till
let api: StoreApi
let deliver: () => Promise<bigint>

beforeEach(async () => {
  till = await startTill()
  api = await startStoreApi(till)
  const bot = await aBot(till)
  /** A deposit of 30.00 that is paid. */
  deliver = async () => {
    const deposit = await aDeposit(till, api.store)
    await payFor(till, bot, deposit)
    return deposit.id
  }
})
afterEach(async () => {
  await api.app.close()
  await till.close()
})

const balance = async () => (await api.call('GET', '/v1/balance')).json().balances
const statement = async (query = '') => (await api.call('GET', `/v1/statement?currency=USD${query}`)).json()

test('balance and statement agree, movement by movement and page by page', async () => {
  const [first, second] = [await deliver(), await deliver()]
  expect(await balance()).toEqual([{ currency: 'USD', held: 0, available: 6_000, reversed: 0 }])
  const payout = { storeId: api.store.id, currency: 'USD', amount: 2_500n, reference: 'wire 1' } as const
  expect(await recordPayout(till.deps, payout)).toEqual({ kind: 'recorded' })
  expect(await balance()).toEqual([{ currency: 'USD', held: 0, available: 3_500, reversed: 0 }])
  const { movements, next } = await statement()
  expect(next).toBeNull()
  expect(movements).toMatchObject([
    { cause: 'paid_out', depositId: null, payoutReference: 'wire 1', held: 0, available: -2_500 },
    { cause: 'delivered', depositId: String(second), held: 0, available: 3_000 },
    { cause: 'delivered', depositId: String(first), held: 0, available: 3_000 },
  ])
  const page = await statement('&limit=2')
  const rest = await statement(`&limit=2&after=${page.next}`)
  expect([...page.movements, ...rest.movements]).toEqual(movements)
  expect((await statement('&limit=3')).next).toBeNull()
  expect((await api.call('GET', '/v1/statement?currency=EUR')).json().movements).toEqual([])
})

test('a payout is recorded once, never above what is available, and the ledger holds', async () => {
  await deliver()
  const payout = { storeId: api.store.id, currency: 'USD', amount: 3_000n, reference: 'wire 1' } as const
  const answers = await Promise.all(Array.from({ length: 10 }, () => recordPayout(till.deps, payout)))
  expect(answers.map(({ kind }) => kind).sort()).toEqual([...Array(9).fill('known'), 'recorded'])
  expect(await recordPayout(till.deps, { ...payout, amount: 1n })).toMatchObject({ kind: 'refused' })
  expect(await recordPayout(till.deps, { ...payout, reference: 'wire 2', amount: 1n })).toEqual({
    kind: 'refused',
    because: 'not_available',
    availableMinor: 0n,
  })
  expect(await balance()).toMatchObject([{ available: 0 }])
  const database = openDatabase(till.url, 1)
  expect(await verifyLedger(database.pool)).toEqual([])
  await database.close()
})
