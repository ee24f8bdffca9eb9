import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { BotContext } from '../bots/bot.ts'
import { viewReader } from '../deposits/shopper-view.ts'
import { balancesOf } from '../ledger/store.ts'
import type { FakeSession } from '../testing/fake-steam.ts'
import { offerFor } from '../testing/payment.ts'
import { aBot, aDeposit, aStore, startTill, type Till } from '../testing/till.ts'
import { tradeHandlers } from './advance.ts'
import { cancelDeposit } from './cancellation.ts'
import { record } from './record.ts'

let till: Till
let store: { id: bigint }
let bot: BotContext
let session: FakeSession

beforeEach(async () => {
  till = await startTill()
  store = await aStore(till, { riskLimitUsdCents: 100_000n })
  ;({ bot, session } = await aBot(till))
})
afterEach(() => till.close())

const theTrade = () => till.db.selectFrom('trade').selectAll().orderBy('id').executeTakeFirst()

const tradeRow = async () => {
  const row = await theTrade()
  if (row === undefined) throw new Error('there is no trade')
  return row
}

const work = async () => tradeHandlers(till.deps).trade(bot, (await tradeRow()).id)
const watch = () => tradeHandlers(till.deps).watch(bot)

/** A deposit whose offer is open. */
async function pendingDeposit() {
  const deposit = await aDeposit(till, store)
  await offerFor(till, bot, deposit)
  const row = () =>
    till.db.selectFrom('deposit').selectAll().where('id', '=', deposit.id).executeTakeFirstOrThrow()
  return { id: deposit.id, row, cancel: () => cancelDeposit(till.deps, store.id, deposit.id) }
}

const cancels = () => session.calls.filter((call) => call.startsWith('cancel'))

describe('a store’s cancel of a deposit whose offer is open', () => {
  it('makes no call to Steam: the bot cancels, and Steam’s answer ends the deposit', async () => {
    const { row, cancel } = await pendingDeposit()
    expect(await cancel()).toBe('under_way')
    expect(cancels()).toEqual([])
    expect(await tradeRow()).toMatchObject({ state: 'active', cancelling: 'store', accepted_at: null })
    expect((await row()).status).toBe('pending')
    await work()
    expect(cancels()).toEqual(['cancel 1'])
    expect(await tradeRow()).toMatchObject({ state: 'timed_out', reason: 'cancelled_by_store' })
    const { status, hash } = await row()
    expect(status).toBe('tradeTimeout')
    const shown = (await viewReader(till.db, 'https://steam.test')([hash])).get(hash)?.payment
    expect(shown).toMatchObject({ cancelledByStore: true, endedAtOnce: false })
    expect(shown).not.toHaveProperty('outcomeUnknown')
    expect(shown).not.toHaveProperty('cancelledElsewhere')
    expect(await cancel()).toBe('ended')
  })

  it('comes too late if the shopper accepts before the bot cancels on Steam, and the deposit is credited', async () => {
    const { row, cancel } = await pendingDeposit()
    expect(await cancel()).toBe('under_way')
    session.beforeCancel = () => session.accept('1')
    await work()
    expect(await row()).toMatchObject({ status: 'succeeded', credited_amount: 3_000n })
    expect((await balancesOf(till.db, store.id))[0]?.available).toBe(3_000n)
    await expect(cancel()).rejects.toMatchObject({ code: 'not_cancellable' })
  })

  it('that comes while the bot reads the acceptance does not prevent the credit', async () => {
    const { row, cancel } = await pendingDeposit()
    session.accept('1')
    const [cancelled] = await Promise.allSettled([cancel(), watch()])
    await work()
    expect(await row()).toMatchObject({ status: 'succeeded', credited_amount: 3_000n })
    if (cancelled?.status === 'rejected') expect(cancelled.reason).toMatchObject({ code: 'not_cancellable' })
    else expect(cancelled?.value).toBe('under_way')
  })

  it('is refused after the till has seen that the shopper accepted', async () => {
    const { row, cancel } = await pendingDeposit()
    session.accept('1', { isReceived: false })
    await watch()
    await expect(cancel()).rejects.toMatchObject({ code: 'not_cancellable' })
    expect(await tradeRow()).toMatchObject({ state: 'active', cancelling: null })
    expect((await row()).status).toBe('pending')
  })

  it('that is repeated gets the same answer, and begins nothing new', async () => {
    const { cancel } = await pendingDeposit()
    await cancel()
    const before = await tradeRow()
    expect(await cancel()).toBe('under_way')
    expect(await tradeRow()).toEqual(before)
  })

  it('is refused once Steam holds the items: the deposit has ended, and the offer in escrow stays as it is', async () => {
    const { row, cancel } = await pendingDeposit()
    const offer = session.offers.get('1')
    if (offer === undefined) throw new Error('Steam has no offer')
    session.offers.set('1', { ...offer, state: 'in_escrow' })
    await watch()
    expect((await row()).status).toBe('tradeHasInvalidItems')
    await expect(cancel()).rejects.toMatchObject({ code: 'not_cancellable' })
    expect(session.calls.filter((call) => call.startsWith('cancel'))).toEqual([])
  })

  it('is carried out by the watch if its job is lost', async () => {
    const { cancel } = await pendingDeposit()
    await cancel()
    till.clock.advance(5_000)
    await watch()
    expect(await tradeRow()).toMatchObject({ state: 'timed_out', reason: 'cancelled_by_store' })
  })

  it('that begins during a failing read is due again in 5 s', async () => {
    const { cancel } = await pendingDeposit()
    const { readOffer } = session
    session.readOffer = async () => {
      await cancel()
      return { kind: 'unavailable', reason: 'timeout', detail: 'simulated' }
    }
    // The store cancels during the first read. The cancel on Steam, which is then due, fails too.
    const { id } = await tradeRow()
    session.cancelOffer = async () => ({ kind: 'unavailable', reason: 'timeout', detail: 'simulated' })
    await tradeHandlers(till.deps).refresh(bot, id)
    session.readOffer = readOffer
    const { due_at: dueAt } = await tradeRow()
    expect(dueAt?.getTime()).toBe(till.clock.now().getTime() + 5_000)
  })
})

it('an offer that somebody else cancelled is shown as cancelled elsewhere, not as one that nobody accepted in time', async () => {
  const { row } = await pendingDeposit()
  const offer = session.offers.get('1')
  if (offer === undefined) throw new Error('Steam has no offer')
  session.offers.set('1', { ...offer, state: 'cancelled' })
  await watch()
  const { status, hash } = await row()
  expect(status).toBe('tradeTimeout')
  const shown = (await viewReader(till.db, 'https://steam.test')([hash])).get(hash)?.payment
  expect(shown).toMatchObject({ cancelledElsewhere: true, cancelledByStore: false, endedAtOnce: true })
})

it.each([
  ['cancelled_by_second_factor', 'phone'],
  ['invalid', 'steam'],
  ['invalid_items', undefined],
] as const)('the page of an offer that ended as %s shows it as failed by: %s', async (state, failedBy) => {
  const { row } = await pendingDeposit()
  const offer = session.offers.get('1')
  if (offer === undefined) throw new Error('Steam has no offer')
  session.offers.set('1', { ...offer, state })
  await watch()
  // Steam sometimes takes such an end back, so the till reads it twice.
  till.clock.advance(60_000)
  await watch()
  const { status, hash } = await row()
  expect(status).toBe('tradeHasInvalidItems')
  const shown = (await viewReader(till.db, 'https://steam.test')([hash])).get(hash)?.payment
  expect(shown?.failedBy).toBe(failedBy)
})

describe('a process without the lease', () => {
  it('begins a cancel for the store, and changes nothing else about an open offer', async () => {
    await pendingDeposit()
    const before = await tradeRow()
    const source = { tradeId: before.id }
    expect(await record(till.deps, source, { kind: 'cancelling', because: 'deadline' })).toBeUndefined()
    session.accept('1')
    const offer = session.offers.get('1')
    if (offer === undefined) throw new Error('Steam has no offer')
    expect(await record(till.deps, source, { kind: 'offer_read', offer })).toBeUndefined()
    expect(await tradeRow()).toEqual(before)
    const recorded = await record(till.deps, source, { kind: 'store_cancels' })
    expect(recorded?.events).toEqual([{ kind: 'cancel_begun', because: 'store' }])
    const { cancelling, due_at, ...rest } = before
    expect(await tradeRow()).toMatchObject({ ...rest, cancelling: 'store' })
  })
})
