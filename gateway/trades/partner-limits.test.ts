/** D-31: an account has at most two open offers in the fleet, and must pause after offers that it left unused. */
import { fastify } from 'fastify'
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { BotContext } from '../bots/bot.ts'
import type { TradeStateColumn } from '../db/trade-tables.ts'
import { viewReader } from '../deposits/shopper-view.ts'
import { handleErrors } from '../http/problem.ts'
import type { FakeSession } from '../testing/fake-steam.ts'
import { fakeSession } from '../testing/fake-steam.ts'
import { offerFor, payFor } from '../testing/payment.ts'
import { aBot, aDeposit, aStore, jump, startTill, type Till } from '../testing/till.ts'
import { requestTrade } from './request.ts'
import { tradeRoutes } from './routes.ts'

const PARTNER = '76561198099999999'

let till: Till
let store: { id: bigint }
let bots: { bot: BotContext; session: FakeSession }[]

beforeEach(async () => {
  till = await startTill()
  store = await aStore(till)
  bots = [await aBot(till), await aBot(till, fakeSession('76561198000000002'))]
})
afterEach(() => till.close())

/** A deposit of the account. `isLocked`: whether its store locked it to the account. */
async function depositFor({ inStore = store, isLocked = false, steamId = PARTNER } = {}) {
  const deposit = await aDeposit(till, inStore)
  await till.db
    .updateTable('deposit')
    .set({ user_steam_id: steamId, shopper_steam_id: isLocked ? steamId : null, shopper_locked: isLocked })
    .where('id', '=', deposit.id)
    .execute()
  return deposit
}

type Deposit = Awaited<ReturnType<typeof aDeposit>>

/** The till's first answer to the request; `taken` if the request would now wait for a bot. */
async function ask(deposit: Deposit, fleet = till.deps.limits.fleet) {
  let isTaken = false
  const until = () => {
    isTaken = true
    return Promise.reject(new Error('nobody waits here'))
  }
  const signals = { ...till.deps.signals, until }
  const limits = { ...till.deps.limits, fleet }
  const answer = requestTrade({ ...till.deps, limits, signals }, deposit.body)
  return answer.catch((error: unknown) => {
    if (isTaken) return { kind: 'taken' as const }
    throw error
  })
}

const openOffer = async (deposit: Deposit) => expect(await ask(deposit)).toEqual({ kind: 'taken' })
const refusal = (code: string) => ({ kind: 'refused', code })

/** Ends the trade of the deposit as Steam's answer would. */
const end = (deposit: Deposit, state: TradeStateColumn, reason: string) =>
  till.db
    .updateTable('trade')
    .set({ state, reason, ended_at: till.clock.now() })
    .where('deposit_id', '=', deposit.id)
    .execute()

describe('at most two open offers', () => {
  test('are allowed in the entire fleet, even if twenty requests arrive at once', async () => {
    const deposits = await Promise.all(Array.from({ length: 20 }, () => depositFor()))
    const answers = await Promise.all(deposits.map((deposit) => ask(deposit)))
    expect(answers.filter(({ kind }) => kind === 'taken')).toHaveLength(2)
    const others = answers.filter(({ kind }) => kind === 'refused')
    expect(others).toEqual(Array.from({ length: 18 }, () => refusal('too_many_open_offers')))
    const trades = await till.db.selectFrom('trade').select(['bot_id']).execute()
    expect(trades).toHaveLength(2)
  })

  test('are allowed across all stores together, without an effect on another account', async () => {
    await openOffer(await depositFor())
    await openOffer(await depositFor({ inStore: await aStore(till) }))
    expect(await ask(await depositFor())).toEqual(refusal('too_many_open_offers'))
    await openOffer(await depositFor({ steamId: '76561198077777777' }))
  })

  test('are allowed besides one in escrow', async () => {
    const inEscrow = await depositFor()
    await openOffer(inEscrow)
    await openOffer(await depositFor())
    await end(inEscrow, 'invalid', 'escrow')
    await openOffer(await depositFor())
  })

  test('leave room for one more offer per store, for a deposit locked to the account', async () => {
    await openOffer(await depositFor())
    await openOffer(await depositFor())
    await openOffer(await depositFor({ isLocked: true }))
    expect(await ask(await depositFor({ isLocked: true }))).toEqual(refusal('too_many_open_offers'))
    await openOffer(await depositFor({ inStore: await aStore(till), isLocked: true }))
  })

  test('do not stop a repeated request, which joins the first request’s offer', async () => {
    const deposit = await depositFor()
    await openOffer(deposit)
    await openOffer(await depositFor())
    await openOffer(deposit)
  })
})

describe('the pause', () => {
  async function unusedOffer(reason: string, state: TradeStateColumn) {
    const deposit = await depositFor()
    await openOffer(deposit)
    await end(deposit, state, reason)
    return deposit
  }

  /** The time of the next offer, as the deposit's page shows it; undefined if it shows none. */
  async function shownUntil({ hash }: Deposit): Promise<string | undefined> {
    return (await viewReader(till.db, 'https://steam.test')([hash])).get(hash)?.payment.nextOfferAt
  }

  const timeIn = (seconds: number): Date => new Date(till.clock.now().getTime() + seconds * 1000)

  test.each([
    ['declined', 'declined'],
    ['declined', 'declined_at_once'],
    ['timed_out', 'deadline'],
    ['timed_out', 'expired'],
  ] as const)(
    'begins after an offer that is %s (%s), is shown on its deposit’s page, and doubles after the next such offer',
    async (state, reason) => {
      const first = await unusedOffer(reason, state)
      const until = timeIn(60)
      expect(await shownUntil(first)).toBe(until.toISOString())
      const second = await depositFor()
      expect(await ask(second)).toEqual({ ...refusal('offers_paused'), until })
      expect(await shownUntil(second)).toBeUndefined()
      await jump(till, 60)
      expect(await shownUntil(first)).toBeUndefined()
      await openOffer(second)
      await end(second, state, reason)
      expect(await shownUntil(first)).toBe(timeIn(120).toISOString())
      expect(await shownUntil(second)).toBe(timeIn(120).toISOString())
      await jump(till, 61)
      const third = await depositFor()
      expect(await ask(third)).toMatchObject(refusal('offers_paused'))
      await jump(till, 60)
      await openOffer(third)
    },
  )

  test.each([
    ['timed_out', 'cancelled_by_store'],
    ['timed_out', 'unresolved'],
    ['invalid', 'escrow'],
    ['refused', 'trade_refused'],
  ] as const)('does not begin after an offer that is %s (%s)', async (state, reason) => {
    expect(await shownUntil(await unusedOffer(reason, state))).toBeUndefined()
    await openOffer(await depositFor())
  })

  test('is for one store and one account, and is back to a minute after the account has paid', async () => {
    await unusedOffer('declined', 'declined')
    await openOffer(await depositFor({ inStore: await aStore(till) }))
    await openOffer(await depositFor({ steamId: '76561198077777777' }))
    await jump(till, 60)
    const [first] = bots
    if (first === undefined) throw new Error('there is no bot')
    await till.db.updateTable('bot').set({ state: 'paused' }).where('id', '!=', first.bot.botId).execute()
    await payFor(till, first, await depositFor())
    await unusedOffer('declined', 'declined')
    await jump(till, 60)
    await openOffer(await depositFor())
  })

  test('neither stops nor results from a deposit locked to the account, even with two offers open elsewhere', async () => {
    await unusedOffer('declined', 'declined')
    await openOffer(await depositFor({ inStore: await aStore(till) }))
    await openOffer(await depositFor({ inStore: await aStore(till) }))
    const [first] = bots
    if (first === undefined) throw new Error('there is no bot')
    await till.db.updateTable('bot').set({ state: 'paused' }).where('id', '!=', first.bot.botId).execute()
    const locked = await depositFor({ isLocked: true })
    await offerFor(till, first.bot, locked)
    await end(locked, 'declined', 'declined')
    expect(await shownUntil(locked)).toBeUndefined()
  })
})

test('D-31 a store that uses its entire share of the fleet leaves slots for other stores and locked deposits', async () => {
  const askWithFourOffersPerBot = (deposit: Deposit) =>
    ask(deposit, { ...till.deps.limits.fleet, liveOffers: 4 })
  // Two bots can have eight open offers. A store may use three quarters of those that other stores leave.
  const strangers = Array.from({ length: 12 }, (_, n) => `765611980500000${10 + n}`)
  const deposits = await Promise.all(strangers.map((steamId) => depositFor({ steamId })))
  const answers = await Promise.all(deposits.map(askWithFourOffersPerBot))
  expect(answers.filter(({ kind }) => kind === 'taken')).toHaveLength(6)
  expect(answers.filter(({ kind }) => kind === 'refused')).toContainEqual(refusal('no_bot_available'))
  expect(await askWithFourOffersPerBot(await depositFor({ inStore: await aStore(till) }))).toEqual({
    kind: 'taken',
  })
  expect(await askWithFourOffersPerBot(await depositFor({ isLocked: true }))).toEqual({ kind: 'taken' })
})

test('D-31 an account that is denied after its link was accepted is refused, but its open offer stays', async () => {
  const [first, second] = [await depositFor(), await depositFor()]
  await openOffer(first)
  await till.db
    .insertInto('denied_shopper')
    .values({ steam_id: PARTNER, reason: 'stolen items', denied_at: till.clock.now() })
    .execute()
  expect(await ask(second)).toEqual(refusal('shopper_refused'))
  await openOffer(first)
})

test('D-31 the answer to the page says for how many seconds to wait, and until when', async () => {
  const [first, second] = [await depositFor(), await depositFor()]
  await openOffer(first)
  await end(first, 'declined', 'declined')
  const until = new Date(till.clock.now().getTime() + 60_000).toISOString()
  await jump(till, 20)
  const app = fastify()
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  handleErrors(app, till.deps.log)
  await app.register(tradeRoutes(till.deps))
  const answer = await app.inject({ method: 'POST', url: '/api/trade', payload: second.body })
  await app.close()
  expect([answer.statusCode, answer.json().code]).toEqual([409, 'offers_paused'])
  expect(answer.headers['retry-after']).toBe('40')
  expect(answer.json()).toMatchObject({ until })
})
