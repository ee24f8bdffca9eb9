/** Two gateways on one database run their sweeps at the same moment, and each effect happens only once. */
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type Database, openDatabase } from './db/client.ts'
import { createDepartureStore } from './departures/store.ts'
import { createDriftStore } from './drift/store.ts'
import { watchEpoch } from './epochs/service.ts'
import { verifyLedger } from './ledger/verify.ts'
import { createMetrics } from './metrics.ts'
import { KEEP_SETTINGS, keepOf } from './retention/settings.ts'
import { epochSweep, type Sweep, sweepsOf } from './sweeps.ts'
import { payFor } from './testing/payment.ts'
import { aBot, aDeposit, anEndpoint, aStore, startTill, type Till } from './testing/till.ts'
import { createTradeStore } from './trades/postgres-store.ts'
import { deliveryWriter } from './webhooks/store.ts'

const GATEWAYS = 2
const HOUR_MS = 3_600_000

let till: Till
let databases: Database[]
let statements: string[]

beforeEach(async () => {
  till = await startTill()
  databases = Array.from({ length: GATEWAYS }, () => openDatabase(till.url, 10, 'sandbox'))
  statements = []
  for (const { pool } of databases) {
    // Records the text of every statement.
    pool.on('connect', (client) => {
      const query = client.query.bind(client) as (...args: unknown[]) => unknown
      Object.assign(client, {
        query: (...args: unknown[]) => statements.push(String(args[0])) && query(...args),
      })
    })
  }
})
afterEach(async () => {
  for (const database of databases) await database.close()
  await till.close()
})

/** Returns the sweeps of a gateway with its own connections. */
function sweepsOn({ db, pool }: Database): Sweep[] {
  const deps = { ...till.deps, db }
  const metrics = createMetrics()
  const addDeliveries = deliveryWriter(deps)
  const stores = { departures: createDepartureStore(deps), drift: createDriftStore(db) }
  const trades = { ...deps, trades: createTradeStore(deps), ...stores }
  const memory = { lastSeen: () => undefined, keep: () => {} }
  const epochs = watchEpoch({
    ...deps,
    memory,
    addDeliveries,
    afterFailover: 'epoch',
    monotonicMs: () => 0,
    gauge: metrics.stoppedByRestore,
  })
  const keep = keepOf(z.object(KEEP_SETTINGS).parse({}))
  const events = { ...deps, addDeliveries }
  return [
    epochSweep(epochs),
    ...sweepsOf({
      trades,
      box: deps.box,
      keep,
      rules: deps.rules,
      fleet: deps.limits.fleet,
      events,
      pool,
      metrics,
    }),
  ]
}

/** Runs every sweep of every gateway at the same time, and then once more. */
async function sweepAll(): Promise<void> {
  const sweeps = databases.flatMap(sweepsOn)
  for (const _turn of [1, 2]) await Promise.all(sweeps.map(({ work }) => work()))
}

const count = async (source: string): Promise<number> =>
  (await databases[0]?.pool.query<{ n: number }>(`select count(*)::int as n from ${source}`))?.rows[0]?.n ??
  -1

describe('two gateways that sweep at the same moment', () => {
  it('expire deposits, number events, plan deliveries, count items and check balances once', async () => {
    const store = await aStore(till)
    await anEndpoint(till, store, 'http://127.0.0.1:9/')
    const { bot, session } = await aBot(till)
    await payFor(till, { bot, session }, await aDeposit(till, store))
    const before = await count('event')
    await Promise.all(Array.from({ length: 5 }, () => aDeposit(till, store)))
    till.clock.advance(HOUR_MS)
    await sweepAll()

    expect(await count('epoch')).toBe(1)
    expect(await count(`deposit where status = 'paymentTimeout'`)).toBe(5)
    expect(await count(`event where type = 'deposit.payment_timeout'`)).toBe(5)
    const numbers = await till.db.selectFrom('event').select('sequence').orderBy('sequence').execute()
    expect(numbers.map(({ sequence }) => Number(sequence))).toEqual(
      Array.from({ length: before + 5 }, (_, index) => index + 1),
    )
    expect(await count('webhook_delivery')).toBe(before + 5)
    expect(await till.db.selectFrom('bot').select(['items_held']).executeTakeFirst()).toEqual({
      items_held: 2,
    })
    expect(await count(`pgboss.job where data ->> 'kind' = 'history'`)).toBe(1)
    expect(statements.filter((text) => text.includes('insert into verified_balance'))).toHaveLength(1)
    expect(await verifyLedger(databases[0]?.pool ?? expect.fail('there is no gateway'))).toEqual([])
  })

  it('subtract a lost credit from the store’s used limit exactly once', async () => {
    const store = await aStore(till, { riskLimitUsdCents: 9_000n })
    const { bot, session } = await aBot(till)
    await payFor(till, { bot, session }, await aDeposit(till, store, { game: 'cs' }))
    await sql`update credit_at_risk set usd_cents = usd_cents + 500`.execute(till.db)
    const until = till.clock.now()
    await sql`insert into lost_credit (trade_id, store_id, usd_cents, until)
      select id, ${store.id}, 500, ${until} from trade`.execute(till.db)
    const usedCents = async () =>
      (await till.db.selectFrom('credit_at_risk').select('usd_cents').executeTakeFirstOrThrow()).usd_cents
    const before = await usedCents()
    await sweepAll()
    expect(await usedCents()).toBe(before - 500n)
    expect(await count('lost_credit')).toBe(0)
  })
})
