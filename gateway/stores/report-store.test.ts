import { afterEach, beforeEach, expect, test } from 'vitest'
import { recordPayout } from '../ledger/payout.ts'
import { payFor } from '../testing/payment.ts'
import { testPool } from '../testing/pool.ts'
import { type StoreApi, startStoreApi } from '../testing/store-api.ts'
import { aBot, aDeposit, aStore, jump, PROTECTION_DAYS, startTill, type Till } from '../testing/till.ts'
import { tradeHandlers } from '../trades/advance.ts'

const DAY_S = 86_400

let till: Till
let api: StoreApi

beforeEach(async () => {
  till = await startTill()
  api = await startStoreApi(till)
})
afterEach(async () => {
  await api.app.close()
  await till.close()
})

const call = async (from: string, before: string, key = api.key) =>
  (await api.call('GET', `/v1/report?from=${from}&before=${before}`, { key })).json()
const now = () => till.clock.now().toISOString()
const later = (seconds: number) => new Date(till.clock.now().getTime() + seconds * 1_000).toISOString()

/** Books a delivery that is held, one on the next day, and days later the reversal of the first and a payout. */
async function book(): Promise<void> {
  const bot = await aBot(till)
  await till.db.updateTable('store').set({ risk_limit_usd_cents: 0n, liability: 'store' }).execute()
  const first = await aDeposit(till, api.store, { game: 'cs' })
  await payFor(till, bot, first)
  await jump(till, DAY_S)
  await payFor(till, bot, await aDeposit(till, api.store))
  const { id, steam_trade_id: steamTradeId } = await till.db
    .selectFrom('trade')
    .select(['id', 'steam_trade_id'])
    .where('deposit_id', '=', first.id)
    .executeTakeFirstOrThrow()
  bot.session.takeBack(String(steamTradeId))
  await jump(till, (PROTECTION_DAYS + 1) * DAY_S)
  await tradeHandlers(till.deps).trade(bot.bot, id)
  await recordPayout(till.deps, { storeId: api.store.id, currency: 'USD', amount: 2_500n, reference: 'wire' })
}

test('the report of a period has the sums of the statement by day and cause, and nothing of another store', async () => {
  const from = now()
  await book()
  const { days } = await call(from, later(1))
  const { movements } = (await api.call('GET', '/v1/statement?currency=USD')).json()
  const sums = new Map<string, number[]>()
  for (const { at, cause, held, available } of movements) {
    const name = `${at.slice(0, 10)} ${cause}`
    const [count = 0, heldSum = 0, availableSum = 0] = sums.get(name) ?? []
    sums.set(name, [count + 1, heldSum + held, availableSum + available])
  }
  expect(sums.size).toBe(4)
  expect(
    days.map((row: Record<string, unknown>) => [
      `${row.day} ${row.cause}`,
      row.movements,
      row.held,
      row.available,
    ]),
  ).toEqual([...sums].map(([name, numbers]) => [name, ...numbers]).sort())
  const otherKey = await api.newKey(await aStore(till))
  expect(await call(from, later(1), otherKey)).toEqual({ days: [] })
})

test('a period includes the moment of `from`, and not that of `before`', async () => {
  await book()
  const movements = (await api.call('GET', '/v1/statement?currency=USD')).json().movements
  const { at } = movements.find(({ cause }: { cause: string }) => cause === 'paid_out')
  const causesFrom = async (from: string, before: string) =>
    (await call(from, before)).days.map(({ cause }: { cause: string }) => cause)
  const justAfter = new Date(Date.parse(at) + 1).toISOString()
  expect(await causesFrom(at, justAfter)).toContain('paid_out')
  expect(await causesFrom(new Date(Date.parse(at) - DAY_S * 1_000).toISOString(), at)).not.toContain(
    'paid_out',
  )
  expect(await causesFrom(justAfter, later(DAY_S))).not.toContain('paid_out')
})

test.each([
  ['that ends when it begins', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z'],
  ['that ends before it begins', '2026-01-02T00:00:00Z', '2026-01-01T00:00:00Z'],
  ['of more than 31 days and an hour', '2026-01-01T00:00:00Z', '2026-02-01T01:00:01Z'],
])('a period %s is refused', async (_what, from, before) => {
  expect(await call(from, before)).toMatchObject({
    code: 'invalid_request',
    errors: [{ path: 'before', message: 'must be later than `from`, by at most 31 days and an hour' }],
  })
})

test.each([
  ['in UTC', '2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z'],
  ['of Berlin, in which summer time ends', '2026-09-30T22:00:00Z', '2026-10-31T23:00:00Z'],
])('a whole month %s is accepted', async (_what, from, before) => {
  expect(await call(from, before)).toEqual({ days: [] })
})

test('a process reads one report of a store at a time, and two in all', async () => {
  const keys = [api.key]
  for (let stores = 1; stores < 3; stores += 1) keys.push(await api.newKey(await aStore(till)))
  const pool = testPool(till.url, 2)
  const locker = await pool.connect()
  const countReading = async () => {
    const { rows } = await pool.query(
      `select count(*)::int as count from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock' and query like '%movements%'`,
    )
    return rows[0]?.count
  }
  const [from, before] = [now(), later(1)]
  const ask = (key?: string) => call(from, before, key)
  await locker.query('begin')
  await locker.query('lock table ledger_entry in access exclusive mode')
  const ofFirst = [ask(), ask()]
  await expect.poll(countReading).toBe(1)
  const ofOthers = keys.slice(1).map(ask)
  await expect.poll(countReading).toBe(2)
  expect((await api.call('GET', '/v1/events')).statusCode).toBe(200)
  expect(await countReading()).toBe(2)
  await locker.query('commit')
  expect(await Promise.all([...ofFirst, ...ofOthers])).toEqual(Array(4).fill({ days: [] }))
  locker.release()
  await pool.end()
})
