import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { BotContext } from '../bots/bot.ts'
import { balancesOf } from '../ledger/store.ts'
import { verifyLedger } from '../ledger/verify.ts'
import { runCommand } from '../testing/command.ts'
import { type FakeSession, steamTradeIdOf } from '../testing/fake-steam.ts'
import { payFor } from '../testing/payment.ts'
import { testPool } from '../testing/pool.ts'
import { aBot, aDeposit, aStore, PROTECTION_DAYS, startTill, type Till } from '../testing/till.ts'
import { tradeHandlers } from './advance.ts'
import { sweepTrades } from './jobs.ts'
import { sweepHistories } from './protection.ts'

const DAY_MS = 86_400_000
/** The Steam trade of the first offer. */
const STEAM_TRADE = steamTradeIdOf('1')

let till: Till
let store: { id: bigint }
let bot: BotContext
let session: FakeSession

beforeEach(async () => {
  till = await startTill()
  store = await aStore(till)
  ;({ bot, session } = await aBot(till))
})
afterEach(() => till.close())

async function work(): Promise<void> {
  const rows = await till.db.selectFrom('trade').select('id').orderBy('id').execute()
  for (const { id } of rows) await tradeHandlers(till.deps).trade(bot, id)
}

/** A delivered deposit of two items, worth 10 and 20 USD; 11 and 22 USD before commission. */
async function deliver(game: 'cs' | 'dota' = 'cs') {
  const deposit = await aDeposit(till, store, { game })
  await payFor(till, { bot, session }, deposit)
  return deposit
}

const depositRow = () => till.db.selectFrom('deposit').selectAll().orderBy('id').executeTakeFirstOrThrow()
const tradeRow = () => till.db.selectFrom('trade').selectAll().orderBy('id').executeTakeFirstOrThrow()
const events = async () =>
  (await till.db.selectFrom('event').select('type').orderBy('inserted').execute()).map((row) => row.type)
const accounts = async () =>
  Object.fromEntries(
    (await till.db.selectFrom('account').select(['kind', 'balance']).orderBy('kind').execute()).map((row) => [
      row.kind,
      row.balance,
    ]),
  )
/** The custody entries. An asset id ends in the index of its item. */
const custody = async () =>
  (await till.db.selectFrom('custody_entry').select(['asset_id', 'moved']).orderBy('id').execute()).map(
    (row) => `${row.asset_id.slice(-1)} ${row.moved}`,
  )

describe('a delivery under trade protection', () => {
  it('D-9 a delivery is held, released at the settlement, and checked one more time a day later', async () => {
    await deliver()
    expect(await accounts()).toEqual({ items: -3_300n, held: 3_000n, commission: 300n })
    till.clock.advance(PROTECTION_DAYS * DAY_MS)
    await work()
    expect(await balancesOf(till.db, store.id)).toEqual([{ currency: 'USD', held: 0n, available: 3_000n }])
    expect(await tradeRow()).toMatchObject({ state: 'final', held_amount: 0n })
    till.clock.advance(DAY_MS)
    await work()
    expect(await tradeRow()).toMatchObject({ state: 'final', look_at: null, due_at: null })
    expect((await events()).slice(1)).toEqual(['deposit.succeeded', 'deposit.funds_available'])
    expect(await custody()).toEqual(['0 in', '1 in'])
  })

  it('D-9 a delivery that is taken back completely leaves neither held credit nor a loss', async () => {
    await deliver()
    session.takeBack(STEAM_TRADE)
    till.clock.advance(PROTECTION_DAYS * DAY_MS)
    await work()
    await work()
    expect(await accounts()).toEqual({ items: 0n, held: 0n, commission: 0n })
    expect(await depositRow()).toMatchObject({
      status: 'succeeded',
      credited_amount: 3_000n,
      held_amount: 0n,
      held_until: null,
      reversed_amount: 3_000n,
    })
    expect((await tradeRow()).state).toBe('reversed')
    expect((await events()).slice(1)).toEqual(['deposit.succeeded', 'deposit.reversed'])
    expect(await custody()).toEqual(['0 in', '1 in', '0 back', '1 back'])
  })

  it('D-9 a delivery that is taken back in parts reports each part, and the rest is released', async () => {
    const deposit = await deliver()
    const [first = '', second = ''] = deposit.body.items
    session.takeBack(STEAM_TRADE, [first])
    till.clock.advance(PROTECTION_DAYS * DAY_MS)
    await work()
    expect(await accounts()).toEqual({ items: -2_200n, held: 0n, available: 2_000n, commission: 200n })
    session.takeBack(STEAM_TRADE, [first, second])
    till.clock.advance(DAY_MS)
    await work()
    expect((await tradeRow()).state).toBe('reversed')
    expect(await depositRow()).toMatchObject({ reversed_amount: 3_000n })
    expect((await events()).slice(2)).toEqual([
      'deposit.reversed',
      'deposit.funds_available',
      'deposit.reversed',
    ])
    const payloads = await till.db
      .selectFrom('event')
      .select('payload')
      .where('type', '=', 'deposit.reversed')
      .orderBy('inserted')
      .execute()
    expect(payloads.map(({ payload }) => payload)).toMatchObject([
      { data: { reversedAmount: 1_000, chargedAmount: 1_000, availableAmount: 0 } },
      { data: { reversedAmount: 3_000, chargedAmount: 1_000, availableAmount: 2_000 } },
    ])
  })
})

describe('the history of a bot', () => {
  const handlers = () => tradeHandlers(till.deps)

  it('D-9 the next read of the history shows a reversal, long before the settlement', async () => {
    await deliver()
    session.takeBack(STEAM_TRADE)
    await handlers().history(bot)
    expect((await tradeRow()).state).toBe('reversed')
    expect((await events()).at(-1)).toBe('deposit.reversed')
  })

  it('changes nothing if it has no reversal, and one read is enough for all trades', async () => {
    await deliver()
    await deliver()
    session.calls.length = 0
    await handlers().history(bot)
    expect(session.calls).toEqual(['history'])
    expect(await till.db.selectFrom('trade').select('state').execute()).toEqual([
      { state: 'held' },
      { state: 'held' },
    ])
  })

  /** Removes the jobs that read a history, and returns their number. */
  const takeJobs = async () => {
    const { rows } = await sql<{ count: bigint }>`
      select count(*) from pgboss.job where data->>'kind' = 'history'`.execute(till.db)
    await sql`delete from pgboss.job where data->>'kind' = 'history'`.execute(till.db)
    return Number(rows[0]?.count)
  }
  /** One sweep, and the turn that it starts. Resolves to the number of turns: 0 or 1. */
  const turn = async (process = handlers()) => {
    await sweepHistories(till.deps)
    const started = await takeJobs()
    if (started > 0) await process.history(bot)
    return started
  }

  it('is read once an hour while items can be taken back, and a minute later if Steam did not answer', async () => {
    expect(await turn()).toBe(0)
    await deliver()
    expect([await turn(), await turn()]).toEqual([1, 0])
    till.clock.advance(3_594_000)
    expect(await turn()).toBe(0)
    till.clock.advance(1_000)
    session.isDown = true
    expect([await turn(), await turn()]).toEqual([1, 0])
    till.clock.advance(60_000)
    session.isDown = false
    expect(await turn()).toBe(1)
    till.clock.advance(59_800)
    expect(await turn()).toBe(0)
    // The setting decides how often. A pass is due five seconds early, because it may begin a little after its sweep.
    await sweepHistories({ ...till.deps, historyEveryMs: 60_000 })
    expect(await takeJobs()).toBe(1)
  })

  it('D-9 a reversal 4,000 trades below the top is found, at three pages a minute', async () => {
    await deliver()
    const trade = session.trades.get(STEAM_TRADE)
    if (trade?.kind !== 'trade') throw new Error('no Steam trade')
    session.takeBack(STEAM_TRADE)
    for (let index = 0; index < 4_000; index += 1) {
      const tradeId = String(20_000 + index)
      session.trades.set(tradeId, { kind: 'trade', trade: { ...trade.trade, tradeId } })
    }
    session.calls.length = 0
    const holder = handlers()
    let turns = 0
    for (; (await tradeRow()).state === 'held' && turns < 60; turns += 1) {
      if (turns === 5) session.isDown = true
      if (turns === 7) session.isDown = false
      await turn(turns > 9 ? handlers() : holder)
      till.clock.advance(60_000)
    }
    expect((await tradeRow()).state).toBe('reversed')
    // 41 pages, and two without an answer: no page was read twice, not even by a second process.
    expect(session.calls).toHaveLength(41 + 2)
    expect(new Set(session.calls).size).toBe(41)
    expect(turns).toBe(14 + 2)
    expect(till.lines.filter((line) => line.includes('history of a bot could not be read'))).toHaveLength(1)
  })

  it('is continued at the same place by the next holder of the lease, whatever other processes have read', async () => {
    await deliver()
    const trade = session.trades.get(STEAM_TRADE)
    if (trade?.kind !== 'trade') throw new Error('no Steam trade')
    for (const tradeId of ['9101', '9102', '9103', '9104']) {
      session.trades.set(tradeId, { kind: 'trade', trade: { ...trade.trade, tradeId } })
    }
    session.pageSize = 1
    session.calls.length = 0
    await handlers().history({ ...bot, leaseEpoch: 99n })
    await handlers().history(bot)
    await handlers().history(bot)
    const pages = ['history', 'history 9104', 'history 9103']
    expect(session.calls).toEqual([...pages, ...pages, 'history 9102', 'history 9101'])
  })

  it('makes the till read a trade that a row at the top undoes', async () => {
    await deliver()
    session.takeBack(STEAM_TRADE)
    const { listSteamTrades } = session
    session.listSteamTrades = async (after) => {
      const page = await listSteamTrades(after)
      if (page.kind !== 'trades') return page
      const [undone] = page.trades
      if (undone === undefined) return page
      return { ...page, trades: [{ ...undone, tradeId: '9900', state: 'complete', rollbackOf: STEAM_TRADE }] }
    }
    await handlers().history(bot)
    expect(session.calls.at(-1)).toBe(`status ${STEAM_TRADE}`)
    expect((await tradeRow()).state).toBe('reversed')
  })

  it('is logged as late once, after two hours without a complete pass, and `bot list` shows the next one', async () => {
    await deliver()
    session.isDown = true
    const holder = handlers()
    const late = () => till.lines.filter((line) => line.includes('was not read completely in time'))
    for (let minutes = 0; minutes < 120; minutes += 10) {
      await turn(holder)
      till.clock.advance(600_000)
    }
    expect(late()).toHaveLength(0)
    await turn(holder)
    till.clock.advance(600_000)
    await turn(holder)
    expect(late()).toHaveLength(1)
    session.isDown = false
    till.clock.advance(60_000)
    await turn(holder)
    const { out } = await runCommand(['bot', 'list'], { databaseUrl: till.url })
    expect(out).toMatch(/reversals known until \d{4}-/)
    expect(out).not.toContain('never')
  })
})

describe('a reversal of credit that the store could spend', () => {
  it('D-9 a reversal is the operator’s loss', async () => {
    await till.db.updateTable('store').set({ risk_limit_usd_cents: 2_500n }).execute()
    await deliver()
    expect(await accounts()).toMatchObject({ available: 2_500n, held: 500n })
    session.takeBack(STEAM_TRADE)
    till.clock.advance(PROTECTION_DAYS * DAY_MS)
    await work()
    expect(await accounts()).toEqual({
      items: 0n,
      held: 0n,
      available: 2_500n,
      commission: 0n,
      loss: -2_500n,
    })
  })

  it('D-9 a reversal is the store’s debt if the store is liable', async () => {
    await till.db.updateTable('store').set({ risk_limit_usd_cents: 100_000n, liability: 'store' }).execute()
    await deliver()
    await till.db.updateTable('account').set({ balance: 0n }).where('kind', '=', 'available').execute()
    session.takeBack(STEAM_TRADE)
    till.clock.advance(PROTECTION_DAYS * DAY_MS)
    await work()
    expect(await accounts()).toMatchObject({ available: -3_000n, items: 0n })
  })

  const differences = () => {
    const pool = testPool(till.url)
    onTestFinished(() => pool.end())
    return verifyLedger(pool)
  }
  const heldOfLast = async () => {
    const rows = till.db.selectFrom('trade').select('held_amount').orderBy('id', 'desc')
    return (await rows.executeTakeFirstOrThrow()).held_amount
  }

  it('D-36 a reversal uses the limit for 30 days', async () => {
    await till.db.updateTable('store').set({ risk_limit_usd_cents: 3_000n }).execute()
    await deliver()
    session.takeBack(STEAM_TRADE)
    till.clock.advance(PROTECTION_DAYS * DAY_MS)
    await work()
    await deliver()
    expect(await heldOfLast()).toBe(3_000n)
    till.clock.advance(30 * DAY_MS - 1)
    await sweepTrades(till.deps)
    await deliver()
    expect(await heldOfLast()).toBe(3_000n)
    till.clock.advance(1)
    await sweepTrades(till.deps)
    await deliver()
    expect(await heldOfLast()).toBe(0n)
    expect(await differences()).toEqual([])
  })

  it('D-36 a reversal keeps using the limit if more items are taken back as its 30 days end', async () => {
    await till.db.updateTable('store').set({ risk_limit_usd_cents: 3_000n }).execute()
    await deliver()
    session.takeBack(STEAM_TRADE)
    till.clock.advance(PROTECTION_DAYS * DAY_MS)
    await work()
    till.clock.advance(30 * DAY_MS)
    const tx = await till.db.startTransaction().execute()
    await tx.selectFrom('trade').select('id').forUpdate().execute()
    const until = new Date(till.clock.now().getTime() + 30 * DAY_MS)
    await tx.updateTable('trade').set({ at_risk_until: until }).execute()
    await tx.updateTable('lost_credit').set({ until }).execute()
    const sweep = sweepTrades(till.deps)
    const countWaiting = () =>
      sql`select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
        .execute(till.db)
        .then(({ rows }) => rows.length)
    await expect.poll(countWaiting).toBe(1)
    await tx.commit().execute()
    await sweep
    await deliver()
    expect(await heldOfLast()).toBe(3_000n)
    expect(await differences()).toEqual([])
  })

  it.each<[string, { limit: bigint; mode?: 'on_release'; game?: 'dota' }]>([
    ['had all been held', { limit: 3_000n, mode: 'on_release' }],
    ['had partly been held', { limit: 1_000n }],
    ['had used the entire limit', { limit: 3_000n }],
    ['had never been protected', { limit: 1_000n, game: 'dota' }],
  ])('D-36 a reversal of a final trade leaves the ledger correct if its credit %s', async (_name, terms) => {
    const { limit, mode = 'on_accept', game } = terms
    await till.db.updateTable('store').set({ risk_limit_usd_cents: limit, credit_mode: mode }).execute()
    await deliver(game)
    till.clock.advance(game === undefined ? PROTECTION_DAYS * DAY_MS : 0)
    await work()
    await deliver()
    session.takeBack(STEAM_TRADE)
    till.clock.advance(DAY_MS)
    await work()
    expect(await tradeRow()).toMatchObject({ state: 'reversed', at_risk_amount: 3_000n })
    expect(await differences()).toEqual([])
  })

  it('D-36 the operator can free a reversal’s part of the limit, and the act is recorded', async () => {
    await till.db.updateTable('store').set({ risk_limit_usd_cents: 3_000n }).execute()
    await deliver()
    session.takeBack(STEAM_TRADE)
    till.clock.advance(PROTECTION_DAYS * DAY_MS)
    await work()
    const freeRoom = ['store', 'free-room', '--store', String(store.id), '--reason', 'barred', '--by', 'Ada']
    expect(await runCommand(freeRoom, { databaseUrl: till.url })).toMatchObject({ code: 0, errors: '' })
    const acts = await till.db.selectFrom('operator_act').select(['act', 'operator', 'reason']).execute()
    expect(acts).toEqual([{ act: 'store free-room', operator: 'Ada', reason: 'barred' }])
    await deliver()
    expect(await heldOfLast()).toBe(0n)
    expect(await differences()).toEqual([])
    const again = await runCommand(freeRoom, { databaseUrl: till.url })
    expect(again).toMatchObject({ code: 0, out: expect.stringContaining('No reversal uses a part') })
  })

  it('D-36 the side that was liable at delivery pays for a reversal, even if the settings change later', async () => {
    await till.db.updateTable('store').set({ risk_limit_usd_cents: 3_000n }).execute()
    await deliver()
    const changed = { liability: 'store', credit_mode: 'on_release', risk_limit_usd_cents: 0n } as const
    await till.db.updateTable('store').set(changed).execute()
    session.takeBack(STEAM_TRADE)
    till.clock.advance(PROTECTION_DAYS * DAY_MS)
    await work()
    expect(await accounts()).toMatchObject({ available: 3_000n, loss: -3_000n })
  })
})

describe('a store whose mode is on_release', () => {
  it('D-9 all credit of the store is held', async () => {
    await till.db
      .updateTable('store')
      .set({ risk_limit_usd_cents: 100_000n, credit_mode: 'on_release' })
      .execute()
    await deliver()
    expect(await accounts()).toMatchObject({ held: 3_000n })
  })
})
