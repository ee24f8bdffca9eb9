import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Database, openDatabase } from '../db/client.ts'
import { storeDepositOf } from '../deposits/store-deposit.ts'
import { reservePromise } from '../ledger/promise-store.ts'
import { accountsFor, type Posting } from '../ledger/store.ts'
import { verifyLedger } from '../ledger/verify.ts'
import { type Delivery, uncreditedDelivery } from '../testing/delivery.ts'
import { aBot, aStore, startTill, type Till } from '../testing/till.ts'
import { countWaiting } from '../testing/waiting.ts'
import { createTradeStore } from './postgres-store.ts'
import { record } from './record.ts'

/** The most statements for one credit, from the first read of the trade to the commit, with begin and commit. */
const MOST_STATEMENTS = 9
/** How many connections can credit at the same time. */
const CLIENTS = 8

let till: Till
let database: Database
let botId: bigint
let statements: string[]

beforeEach(async () => {
  till = await startTill()
  botId = (await aBot(till)).bot.botId
  database = openDatabase(till.url, CLIENTS)
  statements = []
  database.pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...args: unknown[]) => unknown
    Object.assign(client, {
      query: (...args: unknown[]) => {
        statements.push(String(args[0]))
        return query(...args)
      },
    })
  })
})
afterEach(async () => {
  await database.close()
  await till.close()
})

async function credit({ tradeId, offerId, steamTrade }: Delivery) {
  const deps = { ...till.deps, trades: createTradeStore({ ...till.deps, db: database.db }) }
  const fact = { kind: 'steam_trade_read', offerId, steamTrade } as const
  return record(deps, { tradeId, writer: { leaseEpoch: 1n } }, fact)
}

const changeStore = (change: { credit_mode?: 'on_release'; liability?: 'store' }) =>
  till.db.updateTable('store').set(change).execute()

const atRisk = async (storeId: bigint) => {
  const row = await till.db
    .selectFrom('credit_at_risk')
    .select('usd_cents')
    .where('store_id', '=', storeId)
    .executeTakeFirst()
  return row?.usd_cents ?? 0n
}

type Terms = {
  limit: bigint
  game?: 'cs' | 'dota'
  change?: Parameters<typeof changeStore>[0]
  isHeld: boolean
}

const TERMS: [string, Terms][] = [
  ['within the limit', { limit: 1_000_000n, isHeld: false }],
  ['above the limit', { limit: 70n, isHeld: true }],
  ['to a store that bears reversals', { limit: 1_000_000n, change: { liability: 'store' }, isHeld: false }],
  ['with a limit of zero', { limit: 0n, isHeld: true }],
  [
    'to a store that waits for the release',
    { limit: 9_000n, change: { credit_mode: 'on_release' }, isHeld: true },
  ],
  ['for a game without protection', { limit: 1_000n, game: 'dota', isHeld: false }],
]

describe('few statements write a credit', () => {
  it.each(TERMS)(
    '%s, however many items there are',
    async (_name, { limit, game = 'cs', change, isHeld }: Terms) => {
      const store = await aStore(till, { riskLimitUsdCents: limit })
      if (change !== undefined) await changeStore(change)
      const counts: number[] = []
      for (const items of [1, 2, 50]) {
        const prices = Array.from({ length: items }, () => 100n)
        const delivery = await uncreditedDelivery(till, { botId, store, prices, game })
        statements.splice(0)
        const recorded = await credit(delivery)
        counts.push(statements.length)
        expect(recorded?.trade.state).toBe(game === 'cs' ? 'held' : 'final')
        expect(statements.filter((text) => /^(begin|commit)$/i.test(text))).toHaveLength(2)
        const event = await till.db
          .selectFrom('event')
          .select('payload')
          .where('deposit_id', '=', delivery.depositId)
          .where('type', '=', 'deposit.succeeded')
          .executeTakeFirstOrThrow()
        const data = await storeDepositOf(till.db, delivery, till.deps.publicUrl)
        expect(event.payload).toMatchObject({ data })
        expect(Number(data?.heldAmount) > 0).toBe(isHeld)
      }
      // The first delivery also opens the accounts of its store.
      expect(Math.max(...counts)).toBeLessThanOrEqual(MOST_STATEMENTS)
      expect(counts[2]).toBe(counts[1])
      expect(await verifyLedger(database.pool)).toEqual([])
    },
  )
})

/** Waits until `count` of the database's connections wait for a lock. */
const untilWaiting = (count: number) => expect.poll(() => countWaiting(till.db)).toBe(count)

describe('many deliveries of one store at once', () => {
  it('do not lock accounts that another delivery opened meanwhile, as this could deadlock with the limit’s lock', async () => {
    const delivery = await uncreditedDelivery(till, {
      botId,
      store: await aStore(till, { riskLimitUsdCents: 10_000n }),
    })
    await credit(delivery)
    const kinds = ['items', 'available', 'commission'] as const
    const { storeId, tradeId } = delivery
    const posting: Posting = {
      movements: [
        { debit: 'items', credit: 'available', amount: 1n, cause: 'delivered' },
        { debit: 'items', credit: 'commission', amount: 1n, cause: 'commission' },
      ],
      storeId,
      tradeId,
      currency: 'USD',
      quoteId: '',
      rateId: 1n,
      at: new Date(),
    }
    await till.db.transaction().execute(async (tx) => {
      // Pass an empty map, like a delivery that read the accounts before the delivery above committed.
      const accounts = await accountsFor(tx, posting, new Map())
      expect([...accounts.keys()]).toEqual(expect.arrayContaining([...kinds]))
      const unlocked = await sql`select id from account for no key update skip locked`.execute(database.db)
      const allAccounts = await sql`select id from account`.execute(database.db)
      expect(unlocked.rows).toHaveLength(allAccounts.rows.length)
    })
  })

  it('never exceed the store’s limit, use all of it, and all complete', async () => {
    // Room for four and a half deliveries of 30 USD.
    const store = await aStore(till, { riskLimitUsdCents: 13_500n })
    await credit(await uncreditedDelivery(till, { botId, store }))
    const deliveries = await Promise.all(
      Array.from({ length: 3 * CLIENTS }, () => uncreditedDelivery(till, { botId, store })),
    )
    let ends: Promise<unknown> = Promise.resolve()
    // All clients read the same remaining limit before the first of them uses any of it.
    await till.db.transaction().execute(async (tx) => {
      await sql`select from credit_at_risk where store_id = ${store.id} for update`.execute(tx)
      ends = Promise.all(deliveries.map(credit))
      await untilWaiting(CLIENTS)
    })
    await ends
    expect(await atRisk(store.id)).toBe(13_500n)
    const trades = await till.db.selectFrom('trade').select(['state', 'at_risk_amount']).execute()
    expect(new Set(trades.map(({ state }) => state))).toEqual(new Set(['held']))
    expect(trades.reduce((sum, trade) => sum + trade.at_risk_amount, 0n)).toBe(13_500n)
    expect(await verifyLedger(database.pool)).toEqual([])
  })

  it.each([
    ['a promise to another trade that leaves too little', 4_000n, 1_000n],
    ['a promise to another trade that leaves enough', 1_500n, 3_000n],
  ])('respect %s, even if it was made after they had read the limit', async (_, promised, expected) => {
    const store = await aStore(till, { riskLimitUsdCents: 5_000n })
    const delivery = await uncreditedDelivery(till, { botId, store })
    const otherDelivery = await uncreditedDelivery(till, { botId, store })
    const { rateId } = await till.db
      .selectFrom('quote')
      .innerJoin('trade', 'trade.quote_id', 'quote.id')
      .select('rate_id as rateId')
      .where('trade.id', '=', otherDelivery.tradeId)
      .executeTakeFirstOrThrow()
    let ends: Promise<unknown> = Promise.resolve()
    await till.db.transaction().execute(async (tx) => {
      await reservePromise(tx, { storeId: store.id, rateId, total: promised })
      ends = credit(delivery)
      await untilWaiting(1)
      await sql`update trade set total = 4000, gross_total = 4000, promised_amount = ${promised}, promised_days = 8
        where id = ${otherDelivery.tradeId}`.execute(tx)
    })
    await ends
    expect(await atRisk(store.id)).toBe(expected)
  })
})
