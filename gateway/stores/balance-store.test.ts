import { afterEach, beforeEach, expect, test } from 'vitest'
import { openDatabase } from '../db/client.ts'
import { recordPayout } from '../ledger/payout.ts'
import { verifyLedger } from '../ledger/verify.ts'
import { payFor } from '../testing/payment.ts'
import { type StoreApi, startStoreApi } from '../testing/store-api.ts'
import { aBot, aDeposit, jump, PROTECTION_DAYS, startTill, type Till } from '../testing/till.ts'
import { tradeHandlers } from '../trades/advance.ts'

let till: Till
let api: StoreApi
let deliver: () => Promise<bigint>
/** Pays a protected deposit of 30.00 under these settings. Steam then takes its items back for the shopper. */
let reverse: (settings: { liability: 'operator' | 'store'; risk_limit_usd_cents: bigint }) => Promise<bigint>

beforeEach(async () => {
  till = await startTill()
  api = await startStoreApi(till)
  const bot = await aBot(till)
  /** Pays a deposit of 30.00. */
  deliver = async () => {
    const deposit = await aDeposit(till, api.store)
    await payFor(till, bot, deposit)
    return deposit.id
  }
  reverse = async (settings) => {
    await till.db.updateTable('store').set(settings).where('id', '=', api.store.id).execute()
    const deposit = await aDeposit(till, api.store, { game: 'cs' })
    await payFor(till, bot, deposit)
    const { id, steam_trade_id: steamTradeId } = await till.db
      .selectFrom('trade')
      .select(['id', 'steam_trade_id'])
      .where('deposit_id', '=', deposit.id)
      .executeTakeFirstOrThrow()
    bot.session.takeBack(String(steamTradeId))
    await jump(till, (PROTECTION_DAYS + 1) * 86_400)
    await tradeHandlers(till.deps).trade(bot.bot, id)
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

test('a statement refuses to continue after a movement that the store does not have in the currency', async () => {
  await deliver()
  const [{ id }] = (await statement()).movements
  expect(await statement(`&after=${id}`)).toEqual({ movements: [], next: null })
  for (const query of ['currency=USD&after=777777', `currency=EUR&after=${id}`]) {
    const answer = await api.call('GET', `/v1/statement?${query}`)
    expect([answer.statusCode, answer.json().errors]).toEqual([
      400,
      [{ path: 'after', message: 'is not a movement of this statement: read it again without after' }],
    ])
  }
})

test('D-36 each reversal is in the statement, and all movements add up to the balance', async () => {
  await deliver()
  const coveredId = await reverse({ liability: 'operator', risk_limit_usd_cents: 100_000n })
  const borneId = await reverse({ liability: 'store', risk_limit_usd_cents: 100_000n })
  const heldId = await reverse({ liability: 'operator', risk_limit_usd_cents: 0n })
  // Oldest first, without the deposit that was only delivered.
  const deposits = (await api.call('GET', '/v1/deposits')).json().deposits.reverse().slice(1)
  const reversed = { amount: 3_000, heldAmount: 0, reversedAmount: 3_000 }
  expect(deposits).toMatchObject([
    { ...reversed, id: String(coveredId), chargedAmount: 0, availableAmount: 3_000 },
    { ...reversed, id: String(borneId), chargedAmount: 3_000, availableAmount: 0 },
    { ...reversed, id: String(heldId), chargedAmount: 3_000, availableAmount: 0 },
  ])
  expect(await balance()).toEqual([{ currency: 'USD', held: 0, available: 6_000, reversed: 9_000 }])
  const { movements } = await statement()
  expect(movements.filter(({ cause }: { cause: string }) => cause === 'reversed')).toMatchObject([
    { depositId: String(heldId), held: -3_000, available: 0 },
    { depositId: String(borneId), held: 0, available: -3_000 },
    { depositId: String(coveredId), held: 0, available: 0 },
  ])
  const sumOf = (column: 'held' | 'available') =>
    movements.reduce((sum: number, movement: Record<typeof column, number>) => sum + movement[column], 0)
  expect([sumOf('held'), sumOf('available')]).toEqual([0, 6_000])
  const page = await statement('&limit=3')
  const rest = await statement(`&limit=100&after=${page.next}`)
  expect([...page.movements, ...rest.movements]).toEqual(movements)
  const database = openDatabase(till.url, 1)
  expect(await verifyLedger(database.pool)).toEqual([])
  await database.close()
})

test('a payout up to the available balance is recorded once, and the ledger has no difference', async () => {
  await deliver()
  const payout = { storeId: api.store.id, currency: 'USD', amount: 3_000n, reference: 'wire 1' } as const
  const answers = await Promise.all(Array.from({ length: 10 }, () => recordPayout(till.deps, payout)))
  expect(answers.map(({ kind }) => kind).sort()).toEqual([...Array(9).fill('known'), 'recorded'])
  expect(await recordPayout(till.deps, { ...payout, amount: 1n })).toMatchObject({ kind: 'refused' })
  expect(await recordPayout(till.deps, { ...payout, reference: 'wire 2', amount: 1n })).toEqual({
    kind: 'refused',
    reason: 'not_available',
    availableMinor: 0n,
  })
  expect(await balance()).toMatchObject([{ available: 0 }])
  const database = openDatabase(till.url, 1)
  expect(await verifyLedger(database.pool)).toEqual([])
  await database.close()
})
