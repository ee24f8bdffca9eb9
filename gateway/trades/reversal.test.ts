import { afterEach, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { viewReader } from '../deposits/shopper-view.ts'
import { readBalances } from '../stores/balance-store.ts'
import { steamTradeIdOf } from '../testing/fake-steam.ts'
import { offerFor, payFor } from '../testing/payment.ts'
import { aBot, aDeposit, aStore, jump, PROTECTION_DAYS, startTill, type Till } from '../testing/till.ts'
import { tradeHandlers } from './advance.ts'

const DAY_MS = 86_400_000

let till: Till

beforeEach(async () => {
  till = await startTill()
})
afterEach(() => till.close())

const eventSchema = z.object({
  data: z.object({
    amount: z.number(),
    heldAmount: z.number(),
    heldUntil: z.string().nullable(),
    reversedAmount: z.number(),
    chargedAmount: z.number(),
    availableAmount: z.number(),
  }),
})

/** The figures of the last event. `spendable`: the amount that the store guide lets the shopper spend. */
async function lastEvent() {
  const events = till.db.selectFrom('event').select('payload').orderBy('inserted', 'desc').limit(1)
  const { data } = eventSchema.parse((await events.executeTakeFirstOrThrow()).payload)
  return { ...data, spendable: data.amount - data.reversedAmount - data.heldAmount }
}

test('D-36 a reversal reduces held credit first, and never below zero', async () => {
  const store = await aStore(till)
  const { bot, session } = await aBot(till)
  // Two items of 10.00 and 20.00 bring 30.00, of which 15.00 is available at once.
  await till.db.updateTable('store').set({ risk_limit_usd_cents: 1_500n }).execute()
  const deposit = await aDeposit(till, store, { game: 'cs' })
  await payFor(till, { bot, session }, deposit)
  const before = { amount: 3_000, heldAmount: 1_500, reversedAmount: 0, chargedAmount: 0 }
  expect(await lastEvent()).toMatchObject({ ...before, availableAmount: 1_500, spendable: 1_500 })
  const available = async () => (await readBalances(till.db, store.id)).balances[0]?.available

  const [first = '', second = ''] = deposit.body.items
  session.takeBack(steamTradeIdOf('1'), [first])
  await tradeHandlers(till.deps).history(bot)
  const inPart = { amount: 3_000, heldAmount: 500, reversedAmount: 1_000, chargedAmount: 1_000 }
  expect(await lastEvent()).toMatchObject({ ...inPart, availableAmount: 1_500, spendable: 1_500 })
  expect((await lastEvent()).heldUntil).not.toBeNull()
  expect(await available()).toBe(1_500)

  session.takeBack(steamTradeIdOf('1'), [first, second])
  till.clock.advance(3_600_000)
  await tradeHandlers(till.deps).history(bot)
  const whole = { amount: 3_000, heldAmount: 0, reversedAmount: 3_000, chargedAmount: 1_500 }
  expect(await lastEvent()).toMatchObject({ ...whole, heldUntil: null, availableAmount: 1_500, spendable: 0 })
  expect(await available()).toBe(1_500)
})

test('the page shows what the sender left, and an old page still says that all items went back', async () => {
  const { bot, session } = await aBot(till)
  const deposit = await aDeposit(till, await aStore(till, { riskLimitUsdCents: 100_000n }), { game: 'cs' })
  await payFor(till, { bot, session }, deposit)
  const page = async () => {
    const views = await viewReader(till.db, 'https://steam.test')([deposit.body.hash])
    const { amount, takenBack = 'none' } = views.get(deposit.body.hash)?.payment ?? {}
    return { amount, takenBack }
  }
  expect(await page()).toEqual({ amount: 3_000, takenBack: 'none' })
  const [first = '', second = ''] = deposit.body.items
  session.takeBack(steamTradeIdOf('1'), [first])
  await tradeHandlers(till.deps).history(bot)
  expect(await page()).toEqual({ amount: 2_000, takenBack: 'some' })
  session.takeBack(steamTradeIdOf('1'), [first, second])
  till.clock.advance(DAY_MS)
  await tradeHandlers(till.deps).history(bot)
  expect(await page()).toEqual({ amount: 0, takenBack: 'all' })
  await jump(till, (60 * DAY_MS) / 1000)
  expect(await page()).toEqual({ amount: null, takenBack: 'all' })
})

test('a reversed trade does not affect how far back its bot’s history is read', async () => {
  const store = await aStore(till, { riskLimitUsdCents: 100_000n })
  const { bot, session } = await aBot(till)
  const { tradeId, offerId } = await offerFor(till, bot, await aDeposit(till, store, { game: 'cs' }))
  const advance = () => tradeHandlers(till.deps).trade(bot, tradeId)
  const row = () => till.db.selectFrom('trade').selectAll().executeTakeFirstOrThrow()
  session.accept(offerId)
  await advance()
  till.clock.advance(PROTECTION_DAYS * DAY_MS)
  await advance()
  expect(await row()).toMatchObject({ state: 'final' })
  session.takeBack((await row()).steam_trade_id ?? '')
  till.clock.advance(DAY_MS)
  await advance()
  expect(await row()).toMatchObject({ state: 'reversed', look_at: null })
  expect(await till.deps.trades.oldestProtectedOf(bot.botId)).toBeUndefined()
})
