import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { BotContext } from '../bots/bot.ts'
import { viewReader } from '../deposits/shopper-view.ts'
import { createMetrics } from '../metrics.ts'
import type { FakeSession } from '../testing/fake-steam.ts'
import { offerFor } from '../testing/payment.ts'
import { aBot, aDeposit, aStore, startTill, type Till } from '../testing/till.ts'
import { tradeHandlers } from '../trades/advance.ts'
import { sweepDeposits } from '../trades/expiry.ts'
import { requestTrade } from '../trades/request.ts'
import { NO_NOTICE } from './outage.ts'
import { beginMaintenance, endMaintenance, type OutageDeps, watchOutages } from './service.ts'
import { openOutages } from './store.ts'

const MINUTE_MS = 60_000

let till: Till
let store: { id: bigint }
let bot: BotContext
let session: FakeSession
let deps: OutageDeps

beforeEach(async () => {
  till = await startTill()
  store = await aStore(till)
  ;({ bot, session } = await aBot(till))
  deps = { ...till.deps, metrics: createMetrics() }
})
afterEach(() => till.close())

/** Makes a capability of the bot fail from now on, or work again. */
async function setFailures(failing: { offers?: boolean; inventories?: boolean }): Promise<void> {
  const since = (fails: boolean | undefined) => (fails === true ? till.clock.now() : null)
  await till.db
    .updateTable('bot')
    .set({
      offers_failing_since: since(failing.offers),
      inventories_failing_since: since(failing.inventories),
    })
    .execute()
}

async function steamGoesDown(): Promise<void> {
  await setFailures({ offers: true })
  till.clock.advance(30_000)
  await watchOutages(deps)
}

async function steamComesBack(): Promise<void> {
  await setFailures({})
  await watchOutages(deps)
}

const runTradeJobs = async () => {
  for (const { id } of await till.db.selectFrom('trade').select('id').orderBy('id').execute()) {
    await tradeHandlers(till.deps).trade(bot, id)
  }
}

/** Does the work of the trades that the sweep finds due. */
const runDueTradeJobs = async () => {
  const now = till.clock.now()
  const nextAt = new Date(now.getTime() + 30_000)
  for (const { id } of await till.deps.trades.takeDueTrades({ now, nextAt, limit: 10 })) {
    await tradeHandlers(till.deps).trade(bot, id)
  }
}

/** Expects that the offer is cancelled after its five minutes, of which 30 seconds passed before the outage began. */
async function expectCancelled(hash: string, runJobs: () => Promise<unknown>): Promise<void> {
  till.clock.advance(5 * MINUTE_MS - 30_001)
  await runJobs()
  expect(await statusOf(hash)).toBe('pending')
  till.clock.advance(1)
  await runJobs()
  expect(await statusOf(hash)).toBe('tradeTimeout')
}

const viewOf = async (hash: string) => {
  const view = (await viewReader(till.db, 'https://steam.test')([hash])).get(hash)
  if (view === undefined) throw new Error('no view')
  return view.payment
}
const statusOf = async (hash: string) => (await viewOf(hash)).status

async function pendingDeposit() {
  const deposit = await aDeposit(till, store)
  await offerFor(till, bot, deposit)
  return deposit
}

describe('when offers fail for every bot', () => {
  it('D-28 the page shows that trades are paused, its timer stops, and no deposit expires', async () => {
    const { hash } = await aDeposit(till, store)
    expect(await viewOf(hash)).toMatchObject({ technicalWorks: false, timeLeft: expect.any(Number) })
    await steamGoesDown()
    till.clock.advance(2 * 60 * MINUTE_MS)
    await sweepDeposits(till.deps)
    expect(await viewOf(hash)).toMatchObject({ status: 'created', technicalWorks: true, timeLeft: null })
  })

  it('D-28 a deposit gets back the paused time, to the millisecond', async () => {
    const { hash } = await aDeposit(till, store)
    await steamGoesDown()
    till.clock.advance(90 * MINUTE_MS)
    await steamComesBack()
    expect(await viewOf(hash)).toMatchObject({ technicalWorks: false })
    // A deposit lasts an hour. 30 seconds of it passed before the outage began.
    till.clock.advance(60 * MINUTE_MS - 30_001)
    await sweepDeposits(till.deps)
    expect(await statusOf(hash)).toBe('created')
    till.clock.advance(1)
    await sweepDeposits(till.deps)
    expect(await statusOf(hash)).toBe('paymentTimeout')
  })

  it('D-28 neither a deposit nor an open offer loses time if the clock is set back during an outage', async () => {
    const [{ hash }, open] = [await aDeposit(till, store), await pendingDeposit()]
    till.clock.advance(MINUTE_MS)
    const rightTime = till.clock.now()
    till.clock.advance(3 * MINUTE_MS)
    await steamGoesDown()
    till.clock.set(rightTime)
    await steamComesBack()
    till.clock.advance(4 * MINUTE_MS - 1)
    await runTradeJobs()
    expect(await statusOf(open.hash)).toBe('pending')
    till.clock.advance(55 * MINUTE_MS)
    await sweepDeposits(till.deps)
    expect(await statusOf(hash)).toBe('created')
  })

  it('D-28 an open offer keeps its five minutes, and is then cancelled', async () => {
    const { hash } = await pendingDeposit()
    await steamGoesDown()
    till.clock.advance(10 * MINUTE_MS)
    await runTradeJobs()
    expect(await viewOf(hash)).toMatchObject({ status: 'pending', timeLeft: null })
    expect(session.calls.filter((call) => call.startsWith('cancel'))).toEqual([])
    await steamComesBack()
    await expectCancelled(hash, runTradeJobs)
  })

  it('D-28 an offer that Steam could not be asked about during the outage is cancelled at its new deadline', async () => {
    const { hash } = await pendingDeposit()
    await steamGoesDown()
    till.clock.advance(120 * MINUTE_MS)
    session.isDown = true
    await runDueTradeJobs()
    session.isDown = false
    await steamComesBack()
    await expectCancelled(hash, runDueTradeJobs)
  })

  it('D-28 an offer gets back the paused time even if Steam withdraws its acceptance after the outage', async () => {
    const { hash } = await pendingDeposit()
    const offer = session.offers.get('1')
    if (offer === undefined) throw new Error('no offer')
    session.offers.set('1', { ...offer, state: 'accepted', tradeId: null })
    await runTradeJobs()
    await steamGoesDown()
    till.clock.advance(10 * MINUTE_MS)
    const dueAt = () => till.db.selectFrom('trade').select('due_at').executeTakeFirstOrThrow()
    const due = await dueAt()
    await steamComesBack()
    // The next request to Steam for the proof is not delayed.
    expect(await dueAt()).toEqual(due)
    session.offers.set('1', offer)
    await runTradeJobs()
    till.clock.advance(MINUTE_MS)
    await runTradeJobs()
    // 30 seconds passed before the outage began, and a minute since its end.
    till.clock.advance(3.5 * MINUTE_MS - 1)
    await runTradeJobs()
    expect(await statusOf(hash)).toBe('pending')
    till.clock.advance(1)
    await runTradeJobs()
    expect(await statusOf(hash)).toBe('tradeTimeout')
  })

  it('D-28 a decline right after the outage counts as the shopper’s own if the offer was sent long before', async () => {
    const deposit = await aDeposit(till, store)
    const answer = requestTrade(till.deps, deposit.body)
    await expect.poll(() => till.db.selectFrom('trade').select('id').execute()).toHaveLength(1)
    await steamGoesDown()
    // Reads fail, but the send works. The offer gets back all the time since it was sent.
    await runTradeJobs()
    await answer
    till.clock.advance(10 * MINUTE_MS)
    await steamComesBack()
    till.clock.advance(1_000)
    const offer = session.offers.get('1')
    if (offer === undefined) throw new Error('no offer')
    session.offers.set('1', { ...offer, state: 'declined' })
    await runTradeJobs()
    const view = await viewOf(deposit.hash)
    expect(view).toMatchObject({ status: 'tradeDeclined', endedAtOnce: false })
  })

  it('no new trade begins until offers work again', async () => {
    const deposit = await aDeposit(till, store)
    await steamGoesDown()
    expect(await requestTrade(till.deps, deposit.body)).toEqual({
      kind: 'refused',
      code: 'steam_unavailable',
    })
    await steamComesBack()
    const answer = requestTrade(till.deps, deposit.body)
    await expect.poll(() => till.db.selectFrom('trade').select('id').execute()).toHaveLength(1)
    await runTradeJobs()
    expect(await answer).toEqual({ kind: 'active' })
  })

  it('a deposit opened during the outage loses no time', async () => {
    await steamGoesDown()
    till.clock.advance(30 * MINUTE_MS)
    const { hash } = await aDeposit(till, store)
    till.clock.advance(10 * MINUTE_MS)
    await steamComesBack()
    till.clock.advance(60 * MINUTE_MS - 1)
    await sweepDeposits(till.deps)
    expect(await statusOf(hash)).toBe('created')
    till.clock.advance(1)
    await sweepDeposits(till.deps)
    expect(await statusOf(hash)).toBe('paymentTimeout')
  })
})

describe('while only inventories fail', () => {
  it('D-28 the timer of a deposit stands still, but an open offer ends at its deadline', async () => {
    const { hash } = await pendingDeposit()
    const otherDeposit = await aDeposit(till, store)
    await setFailures({ inventories: true })
    till.clock.advance(30_000)
    await watchOutages(deps)
    expect(await viewOf(otherDeposit.hash)).toMatchObject({ technicalWorks: false, timeLeft: null })
    till.clock.advance(5 * MINUTE_MS)
    await runTradeJobs()
    expect(await statusOf(hash)).toBe('tradeTimeout')
  })
})

describe('maintenance', () => {
  it('lets no trade begin and no deposit expire, but interrupts no trade', async () => {
    const { hash } = await pendingDeposit()
    const otherDeposit = await aDeposit(till, store)
    await beginMaintenance(deps, NO_NOTICE)
    await watchOutages(deps)
    expect(await requestTrade(till.deps, otherDeposit.body)).toEqual({
      kind: 'refused',
      code: 'technical_works',
    })
    expect(await viewOf(otherDeposit.hash)).toMatchObject({ technicalWorks: true, timeLeft: null })
    till.clock.advance(2 * 60 * MINUTE_MS)
    await sweepDeposits(till.deps)
    expect(await statusOf(otherDeposit.hash)).toBe('created')
    session.accept('1')
    await runTradeJobs()
    expect(await statusOf(hash)).toBe('succeeded')
    await endMaintenance(deps)
    await watchOutages(deps)
    expect(await viewOf(otherDeposit.hash)).toMatchObject({
      technicalWorks: false,
      timeLeft: expect.any(Number),
    })
    expect(await deps.metrics.outage.get()).toMatchObject({
      values: [{ value: 0 }, { value: 0 }, { value: 0 }],
    })
  })

  it('gives the paused time back when it ends, so a shopper who presses at once can pay', async () => {
    const deposit = await aDeposit(till, store)
    await beginMaintenance(deps, NO_NOTICE)
    till.clock.advance(2 * 60 * MINUTE_MS)
    // The prices that the shopper sees are new.
    await till.db
      .updateTable('quote')
      .set({ expires_at: new Date(till.clock.now().getTime() + MINUTE_MS) })
      .execute()
    await endMaintenance(deps)
    await offerFor(till, bot, deposit)
    expect(await statusOf(deposit.hash)).toBe('pending')
  })

  it('and an outage of Steam end independently of each other', async () => {
    const { hash } = await aDeposit(till, store)
    await steamGoesDown()
    await beginMaintenance(deps, NO_NOTICE)
    await endMaintenance(deps)
    await watchOutages(deps)
    expect(await viewOf(hash)).toMatchObject({ technicalWorks: true, timeLeft: null })
    await beginMaintenance(deps, NO_NOTICE)
    await steamComesBack()
    expect(await viewOf(hash)).toMatchObject({ technicalWorks: true, timeLeft: null })
    await endMaintenance(deps)
    await watchOutages(deps)
    expect(await viewOf(hash)).toMatchObject({ technicalWorks: false })
  })

  it('shows shoppers its reason and end in both languages, and an operator can change the notice', async () => {
    const { hash } = await aDeposit(till, store)
    const text = { en: 'We are moving.', ru: 'Мы переезжаем.' }
    const until = new Date(till.clock.now().getTime() + 45 * MINUTE_MS)
    expect(await beginMaintenance(deps, { text, until })).toBe('begun')
    const notice = { technicalWorksText: text, technicalWorksUntil: until.toISOString() }
    expect(await viewOf(hash)).toMatchObject({ technicalWorks: true, ...notice })
    expect(await beginMaintenance(deps, { text, until })).toBe('unchanged')
    expect(await beginMaintenance(deps, NO_NOTICE)).toBe('changed')
    expect(await viewOf(hash)).toMatchObject({ technicalWorksText: null, technicalWorksUntil: null })
    await endMaintenance(deps)
    expect(await beginMaintenance(deps, NO_NOTICE)).toBe('begun')
  })

  it('ends automatically at its planned end, and deposits get back the paused time', async () => {
    const { hash } = await aDeposit(till, store)
    const until = new Date(till.clock.now().getTime() + 45 * MINUTE_MS)
    await beginMaintenance(deps, { text: null, until })
    till.clock.advance(45 * MINUTE_MS - 1)
    await watchOutages(deps)
    expect(await viewOf(hash)).toMatchObject({ technicalWorks: true, timeLeft: null })
    till.clock.advance(1)
    await watchOutages(deps)
    expect(await viewOf(hash)).toMatchObject({ technicalWorks: false, technicalWorksUntil: null })
    till.clock.advance(60 * MINUTE_MS - 1)
    await sweepDeposits(till.deps)
    expect(await statusOf(hash)).toBe('created')
    till.clock.advance(1)
    await sweepDeposits(till.deps)
    expect(await statusOf(hash)).toBe('paymentTimeout')
    expect(till.lines.filter((line) => line.includes('ended as planned'))).toHaveLength(1)
  })

  it('goes on if an operator extends it at the moment of its planned end', async () => {
    const inAnHour = () => new Date(till.clock.now().getTime() + 60 * MINUTE_MS)
    await beginMaintenance(deps, { text: null, until: inAnHour() })
    till.clock.advance(60 * MINUTE_MS)
    const mayCommit = Promise.withResolvers<void>()
    const hasExtended = Promise.withResolvers<void>()
    const extending = till.db.transaction().execute(async (tx) => {
      await beginMaintenance({ db: tx, clock: till.clock }, { text: null, until: inAnHour() })
      hasExtended.resolve()
      await mayCommit.promise
    })
    await hasExtended.promise
    const watching = watchOutages(deps)
    await expect.poll(countWaiting).toBe(1)
    mayCommit.resolve()
    await extending
    await watching
    expect(await openOutages(till.db)).toEqual(new Set(['maintenance', 'deposits']))
  })
})

async function countWaiting(): Promise<number> {
  const waiting = sql`select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
  return (await waiting.execute(till.db)).rows.length
}
