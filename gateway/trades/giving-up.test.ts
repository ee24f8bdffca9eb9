/** Trades whose end Steam never reported, with a real database. Ending them needs no bot. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { BotContext } from '../bots/bot.ts'
import { actOnBot } from '../bots/operator.ts'
import { saveBot } from '../bots/store.ts'
import { viewReader } from '../deposits/shopper-view.ts'
import { balancesOf } from '../ledger/store.ts'
import type { FakeSession } from '../testing/fake-steam.ts'
import { offerFor } from '../testing/payment.ts'
import { aBot, aDeposit, aStore, PROTECTION_DAYS, startTill, type Till } from '../testing/till.ts'
import { countWaiting } from '../testing/waiting.ts'
import { tradeHandlers } from './advance.ts'
import { sweepDeposits } from './expiry.ts'
import { sweepTrades } from './jobs.ts'
import { requestTrade } from './request.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

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

const trade = () => till.db.selectFrom('trade').selectAll().orderBy('id').executeTakeFirstOrThrow()
const statusOf = async (id: bigint) =>
  (await till.db.selectFrom('deposit').select('status').where('id', '=', id).executeTakeFirstOrThrow()).status
const liveFlags = async () =>
  (await till.db.selectFrom('trade_item').select('live').execute()).map((row) => row.live)
const shownPage = async (hash: string) =>
  (await viewReader(till.db, 'https://steam.test')([hash])).get(hash)?.payment
const setBot = (state: 'dead') => till.db.updateTable('bot').set({ state }).execute()
const errors = () =>
  till.lines
    .map((line): { level: string; msg: string } => JSON.parse(line))
    .filter(({ level }) => level === 'error')
    .map(({ msg }) => msg)

async function sweepLater(ms: number): Promise<void> {
  till.clock.advance(ms)
  await sweepTrades(till.deps)
}

async function anOffer() {
  const deposit = await aDeposit(till, store, { game: 'cs' })
  return { deposit, ...(await offerFor(till, bot, deposit)) }
}

/** An accepted offer for which Steam reports no trade id yet. */
async function acceptedWithoutProof() {
  const openedTrade = await anOffer()
  const offer = session.offers.get(openedTrade.offerId)
  if (offer === undefined) throw new Error('Steam has no offer')
  session.offers.set(openedTrade.offerId, { ...offer, state: 'accepted', tradeId: null })
  await tradeHandlers(till.deps).refresh(bot, openedTrade.tradeId)
  return openedTrade
}

describe('D-8 an accepted offer without proof', () => {
  it('ends the deposit after 15 days, frees the items, and causes an error line', async () => {
    const { deposit } = await acceptedWithoutProof()
    await sweepLater(15 * DAY_MS - HOUR_MS)
    expect(await statusOf(deposit.id)).toBe('pending')
    await sweepLater(HOUR_MS)
    expect(await trade()).toMatchObject({ state: 'timed_out', reason: 'unresolved' })
    expect(await statusOf(deposit.id)).toBe('tradeTimeout')
    expect(await liveFlags()).toEqual([false, false])
    expect(errors()).toContain('trade was ended, because Steam did not say in 15 days what became of it')
    expect(await shownPage(deposit.hash)).toMatchObject({ status: 'tradeTimeout', outcomeUnknown: true })
  })

  it('ends like any other offer if Steam withdraws the acceptance', async () => {
    const { deposit, tradeId, offerId } = await acceptedWithoutProof()
    const offer = session.offers.get(offerId)
    if (offer === undefined) throw new Error('Steam has no offer')
    session.offers.set(offerId, { ...offer, state: 'declined', tradeId: null })
    // The new state must last for a minute: seven looks take 77 seconds.
    for (let look = 0; look < 7; look += 1) {
      till.clock.advance(11_000)
      await tradeHandlers(till.deps).trade(bot, tradeId)
    }
    expect(await trade()).toMatchObject({ state: 'declined', reason: 'declined' })
    expect(await statusOf(deposit.id)).toBe('tradeDeclined')
  })

  it('is credited even if the proof comes late, and protection begins with the proof', async () => {
    const { deposit, tradeId, offerId } = await acceptedWithoutProof()
    await sweepLater(15 * DAY_MS)
    session.accept(offerId)
    till.clock.advance(60_000)
    await tradeHandlers(till.deps).trade(bot, tradeId)
    expect(await statusOf(deposit.id)).toBe('succeeded')
    expect(await balancesOf(till.db, store.id)).toMatchObject([{ held: 0n, available: 3_000n }])
    const { settles_at: settlesAt } = await trade()
    expect(settlesAt?.getTime()).toBe(till.clock.now().getTime() + PROTECTION_DAYS * DAY_MS)
  })

  it('is still reviewed, and credited, if Steam does not answer the first review', async () => {
    const { deposit, tradeId, offerId } = await acceptedWithoutProof()
    await sweepLater(15 * DAY_MS)
    session.accept(offerId)
    till.clock.advance(60_000)
    session.isDown = true
    await tradeHandlers(till.deps).trade(bot, tradeId)
    session.isDown = false
    expect((await trade()).due_at).not.toBeNull()
    await sweepLater(10 * 60_000)
    await tradeHandlers(till.deps).trade(bot, tradeId)
    expect(await statusOf(deposit.id)).toBe('succeeded')
  })
})

describe('a dead bot', () => {
  it('keeps no trade open: the trade ends after 15 days, and its reviews a day later', async () => {
    const { deposit } = await anOffer()
    await setBot('dead')
    await sweepLater(15 * DAY_MS)
    expect(await statusOf(deposit.id)).toBe('tradeTimeout')
    expect((await trade()).due_at).not.toBeNull()
    await sweepLater(DAY_MS)
    expect((await trade()).due_at).toBeNull()
    expect(errors()).toContain('reviews of a trade were ended')
  })

  it('leaves no trade in `unknown`, and the deposit ends like one without an offer', async () => {
    const { deposit } = await anOffer()
    await till.db
      .updateTable('trade')
      .set({ state: 'unknown', steam_offer_id: null, deadline: null })
      .execute()
    await till.db.updateTable('deposit').set({ status: 'created' }).execute()
    await setBot('dead')
    await sweepLater(15 * DAY_MS)
    expect(await trade()).toMatchObject({ state: 'abandoned', reason: 'unresolved' })
    await sweepDeposits(till.deps)
    expect(await statusOf(deposit.id)).toBe('paymentTimeout')
  })

  it('blocks no items for good: items are free a day after Steam’s hold should have ended', async () => {
    const { deposit, tradeId, offerId } = await anOffer()
    const offer = session.offers.get(offerId)
    if (offer === undefined) throw new Error('Steam has no offer')
    const shownHold = async () => {
      const { steamHoldUntil: until, steamHoldOver: isOver = false } = (await shownPage(deposit.hash)) ?? {}
      return { until, isOver }
    }
    const escrowEndsAt = new Date(till.clock.now().getTime() + 15 * DAY_MS)
    session.offers.set(offerId, { ...offer, state: 'in_escrow', escrowEndsAt })
    await tradeHandlers(till.deps).refresh(bot, tradeId)
    await setBot('dead')
    await sweepLater(16 * DAY_MS - HOUR_MS)
    expect(await liveFlags()).toEqual([true, true])
    expect(await shownHold()).toEqual({ until: escrowEndsAt.toISOString(), isOver: false })
    await sweepLater(HOUR_MS)
    expect(await liveFlags()).toEqual([false, false])
    expect(await shownHold()).toEqual({ until: null, isOver: true })
    await sweepLater(DAY_MS)
    expect((await trade()).due_at).toBeNull()
  })

  it('has no due trades while it is dead, and has due trades when it is active again', async () => {
    const { tradeId } = await anOffer()
    await setBot('dead')
    till.clock.advance(HOUR_MS)
    const now = till.clock.now()
    const due = async () =>
      (await till.deps.trades.takeDueTrades({ now, nextAt: now, limit: 10 })).map(({ id }) => id)
    expect(await due()).toEqual([])
    await till.db.updateTable('bot').set({ state: 'active' }).execute()
    expect(await due()).toEqual([tradeId])
  })
})

describe('a delivered trade whose look is overdue', () => {
  async function aFinalTradeToLookAt() {
    const { tradeId, offerId } = await offerFor(till, bot, await aDeposit(till, store))
    session.accept(offerId)
    await tradeHandlers(till.deps).trade(bot, tradeId)
    till.clock.advance(HOUR_MS)
    return tradeId
  }

  it('is looked at however late its bot comes back, so a reversal is booked', async () => {
    const tradeId = await aFinalTradeToLookAt()
    const { steam_trade_id: steamTradeId } = await trade()
    session.takeBack(steamTradeId ?? '')
    await sweepLater(16 * DAY_MS)
    expect(await trade()).toMatchObject({ state: 'final', look_at: expect.any(Date) })
    await tradeHandlers(till.deps).trade(bot, tradeId)
    expect(await trade()).toMatchObject({ state: 'reversed' })
  })

  it('is no longer checked once 15 days have passed and the history was read, so later reads go back less far', async () => {
    const tradeId = await aFinalTradeToLookAt()
    session.trades.clear()
    await tradeHandlers(till.deps).trade(bot, tradeId)
    await sweepLater(14 * DAY_MS)
    expect(await trade()).toMatchObject({
      state: 'final',
      due_at: expect.any(Date),
      look_at: expect.any(Date),
    })
    await sweepLater(DAY_MS)
    // The checks go on until the history has been read completely: a complete read shows every reversal.
    expect(await trade()).toMatchObject({ state: 'final', look_at: expect.any(Date) })
    await tradeHandlers(till.deps).history(bot)
    await sweepTrades(till.deps)
    expect(await trade()).toMatchObject({ state: 'final', due_at: null, look_at: null })
    expect(errors()).toContain('checks of a delivered trade were ended')
    expect(await till.deps.trades.oldestProtectedOf(bot.botId)).toBeUndefined()
  })
})

describe('a bot that is retired', () => {
  const retire = () => actOnBot(till.db, String(bot.botId), 'retire')
  const enrolAgain = () =>
    saveBot(
      till.db,
      {
        steamId: session.steamId,
        name: 'nova',
        avatarUrl: 'a',
        profileUrl: 'p',
        level: 1,
        memberSince: null,
      },
      { sealed: Buffer.from('sealed'), expiresAt: null, acknowledged: true },
    )

  it('has no open trade after the next sweep, and each end is logged as an error', async () => {
    const { deposit } = await anOffer()
    await retire()
    await sweepTrades(till.deps)
    expect(await trade()).toMatchObject({ state: 'timed_out', reason: 'bot_retired', due_at: null })
    expect(await statusOf(deposit.id)).toBe('tradeTimeout')
    expect(await liveFlags()).toEqual([false, false])
    expect(errors()).toContain('trade was ended, because its bot is retired')
  })

  it('sends none of its remaining trades, which are refused', async () => {
    const { deposit } = await anOffer()
    await till.db
      .updateTable('trade')
      .set({ state: 'intended', send_started_at: null, steam_offer_id: null, deadline: null })
      .execute()
    await till.db.updateTable('deposit').set({ status: 'created' }).execute()
    await retire()
    await sweepTrades(till.deps)
    expect(await trade()).toMatchObject({ state: 'refused', reason: 'no_bot_available', due_at: null })
    expect(await statusOf(deposit.id)).toBe('created')
  })

  it('leaves no review after the next sweep, and causes one error line', async () => {
    const { tradeId, offerId } = await anOffer()
    const offer = session.offers.get(offerId)
    if (offer === undefined) throw new Error('Steam has no offer')
    session.offers.set(offerId, { ...offer, state: 'expired' })
    await tradeHandlers(till.deps).refresh(bot, tradeId)
    expect((await trade()).due_at).not.toBeNull()
    await retire()
    await sweepTrades(till.deps)
    expect((await trade()).due_at).toBeNull()
    expect(errors()).toContain('reviews of a trade were ended')
    await sweepTrades(till.deps)
    expect(errors().filter((line) => line === 'reviews of a trade were ended').length).toBe(1)
  })

  it('releases nothing without proof: held credit waits for the operator, and custody does not change', async () => {
    await till.db.updateTable('store').set({ credit_mode: 'on_release' }).execute()
    const { tradeId, offerId } = await anOffer()
    session.accept(offerId)
    await tradeHandlers(till.deps).trade(bot, tradeId)
    await retire()
    await sweepLater(20 * DAY_MS)
    expect(await trade()).toMatchObject({ state: 'held', held_amount: 3_000n, due_at: null })
    expect(errors()).toContain('held credit was left to the operator, because no bot can ask Steam about it')
    const custody = await till.db.selectFrom('custody_entry').select('moved').execute()
    expect(custody).toEqual([{ moved: 'in' }, { moved: 'in' }])
  })

  it('has no due look at its delivered trades after the next sweep, and that is logged as an error', async () => {
    const { tradeId, offerId } = await offerFor(till, bot, await aDeposit(till, store))
    session.accept(offerId)
    await tradeHandlers(till.deps).trade(bot, tradeId)
    expect(await trade()).toMatchObject({ state: 'final', due_at: expect.any(Date) })
    await retire()
    await sweepTrades(till.deps)
    expect(await trade()).toMatchObject({ state: 'final', due_at: null })
    expect(errors()).toContain('checks of a delivered trade were ended')
  })

  it('reviews its trade if it is enrolled again, and proof that comes late wins', async () => {
    const { deposit, tradeId, offerId } = await anOffer()
    await retire()
    await sweepTrades(till.deps)
    session.accept(offerId)
    await enrolAgain()
    expect((await trade()).due_at).not.toBeNull()
    const { lease_epoch: leaseEpoch } = await till.db
      .selectFrom('bot')
      .select('lease_epoch')
      .executeTakeFirstOrThrow()
    await tradeHandlers(till.deps).trade({ ...bot, leaseEpoch }, tradeId)
    expect(await statusOf(deposit.id)).toBe('succeeded')
  })

  it('leaves no offer open that was being sent at that moment', async () => {
    const { body } = await aDeposit(till, store, { game: 'cs' })
    const request = requestTrade(till.deps, body)
    await expect.poll(tradeCount).toBe(1)
    session.afterSend = async () => void (await retire())
    await tradeHandlers(till.deps).trade(bot, (await trade()).id)
    await sweepTrades(till.deps)
    expect(await trade()).toMatchObject({ state: 'abandoned', reason: 'bot_retired' })
    expect([...session.offers.values()]).toMatchObject([{ state: 'cancelled' }])
    expect(await request).toMatchObject({ kind: 'refused' })
  })
})

it('a bot that is removed makes no offer for a shopper who asked at that moment: nobody would watch it', async () => {
  const { body } = await aDeposit(till, store, { game: 'cs' })
  const [hasRemoved, mayCommit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const removing = till.db.transaction().execute(async (tx) => {
    expect(await actOnBot(tx, String(bot.botId), 'remove')).toMatchObject({ kind: 'done' })
    hasRemoved.resolve()
    await mayCommit.promise
  })
  await hasRemoved.promise
  const request = requestTrade(till.deps, body)
  // The bot was chosen, and its new trade waits for the bot's row.
  await expect.poll(() => countWaiting(till.db)).toBe(1)
  mayCommit.resolve()
  await removing
  await expect.poll(tradeCount).toBe(1)
  // The process that held the bot keeps working until it next tries to renew the lease.
  await tradeHandlers(till.deps).trade(bot, (await trade()).id)
  expect(session.calls).toEqual([])
  await sweepLater(60_000)
  expect(await request).toEqual({ kind: 'refused', code: 'no_bot_available' })
})

const tradeCount = async () => (await till.db.selectFrom('trade').select('id').execute()).length
