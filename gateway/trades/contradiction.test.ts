/** Steam's records that contradict a trade or an operator: incomplete ones, and ones that only a person can judge. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { BotContext } from '../bots/bot.ts'
import { balancesOf } from '../ledger/store.ts'
import { creditTrade } from '../operations/trades.ts'
import type { Offer } from '../steam/steam.ts'
import { type FakeSession, steamTradeIdOf } from '../testing/fake-steam.ts'
import { operatorOf } from '../testing/operator.ts'
import { offerFor, payFor } from '../testing/payment.ts'
import { aBot, aDeposit, aStore, startTill, type Till } from '../testing/till.ts'
import { tradeHandlers } from './advance.ts'

const DAY_MS = 86_400_000

let till: Till
let bot: BotContext
let session: FakeSession

beforeEach(async () => {
  till = await startTill()
  ;({ bot, session } = await aBot(till))
})
afterEach(() => till.close())

/** Declines an offer, and lets the till see that its trade has ended. Resolves to the offer as it was. */
async function decline(offerId: string): Promise<Offer> {
  const offer = session.offers.get(offerId)
  if (offer === undefined) throw new Error('Steam has no offer')
  session.offers.set(offerId, { ...offer, state: 'declined' })
  await tradeHandlers(till.deps).watch(bot)
  return offer
}

const theTrade = () => till.db.selectFrom('trade').selectAll().executeTakeFirstOrThrow()
const errors = () =>
  till.lines.filter((line) => line.includes('record of the Steam trade contradicts the trade'))

it('a late acceptance whose Steam trade lacks its items at the last review is credited as soon as Steam shows the items', async () => {
  const { tradeId, offerId } = await offerFor(till, bot, await aDeposit(till, await aStore(till)))
  await decline(offerId)
  const { trade } = tradeHandlers(till.deps)
  session.accept('1')
  const whole = session.trades.get(steamTradeIdOf('1'))
  if (whole?.kind !== 'trade') throw new Error('Steam has no trade')
  session.trades.set(steamTradeIdOf('1'), { kind: 'trade', trade: { ...whole.trade, received: [] } })
  till.clock.advance(DAY_MS)
  await trade(bot, tradeId)
  expect(await theTrade()).toMatchObject({ state: 'declined', due_at: expect.any(Date) })
  session.trades.set(steamTradeIdOf('1'), whole)
  till.clock.advance(3_600_000)
  await trade(bot, tradeId)
  expect((await theTrade()).state).toBe('final')
})

it('a late acceptance that names no Steam trade at the last review is credited as soon as Steam names it', async () => {
  const { tradeId, offerId } = await offerFor(till, bot, await aDeposit(till, await aStore(till)))
  const offer = await decline(offerId)
  const { trade } = tradeHandlers(till.deps)
  session.offers.set('1', { ...offer, state: 'accepted' })
  till.clock.advance(DAY_MS)
  await trade(bot, tradeId)
  expect(await theTrade()).toMatchObject({ state: 'declined', due_at: expect.any(Date) })
  session.accept('1')
  till.clock.advance(3_600_000)
  await trade(bot, tradeId)
  expect((await theTrade()).state).toBe('final')
})

it('a delivery that Steam undid in part, without saying which items, is logged as an error when the bot’s history is read', async () => {
  const deposit = await aDeposit(till, await aStore(till), { game: 'cs' })
  await payFor(till, { bot, session }, deposit)
  const { history } = tradeHandlers(till.deps)
  await history(bot)
  expect(errors()).toEqual([])
  session.takeBack(steamTradeIdOf('1'), [])
  till.clock.advance(3_600_000)
  await history(bot)
  expect(errors()).toEqual([expect.stringContaining(`"deposit":"${deposit.id}"`)])
  expect((await theTrade()).state).toBe('held')
})

describe('a number of Steam that an operator gave to the wrong trade', () => {
  const takenLines = () =>
    till.lines
      .map((line): Record<string, unknown> => JSON.parse(line))
      .filter(({ msg }) => String(msg).includes('was given to another trade by hand'))
  const states = async () => {
    const rows = await till.db.selectFrom('trade').select('state').orderBy('id').execute()
    return rows.map(({ state }) => state)
  }

  it('is credited once, and an error at each due read names both trades', async () => {
    const store = await aStore(till)
    const { tradeId: wrong } = await offerFor(till, bot, await aDeposit(till, store))
    const { tradeId, offerId } = await offerFor(till, bot, await aDeposit(till, store))
    const steamTrade = steamTradeIdOf(offerId)
    await creditTrade(operatorOf(till), { tradeId: wrong, steamTradeId: steamTrade, offerId: null })
    session.accept(offerId)
    const { watch } = tradeHandlers(till.deps)
    await watch(bot)
    expect(takenLines()).toEqual([])
    till.clock.advance(DAY_MS)
    for (let look = 0; look < 3; look += 1) {
      await watch(bot)
      till.clock.advance(5_000)
    }
    const line = { level: 'error', trade: String(tradeId), otherTrade: String(wrong), steamTrade }
    expect(takenLines()).toEqual([expect.objectContaining(line)])
    expect(await states()).toEqual(['final', 'active'])
    expect(session.calls).not.toContain(`cancel ${offerId}`)
    expect(await balancesOf(till.db, store.id)).toMatchObject([{ held: 0n, available: 3_000n }])
  })

  it('is not credited if the trade had ended before its offer was accepted, and an error names both trades', async () => {
    const store = await aStore(till)
    const { tradeId: wrong } = await offerFor(till, bot, await aDeposit(till, store))
    const { tradeId, offerId } = await offerFor(till, bot, await aDeposit(till, store))
    await decline(offerId)
    const { trade } = tradeHandlers(till.deps)
    const steamTrade = steamTradeIdOf(offerId)
    await creditTrade(operatorOf(till), { tradeId: wrong, steamTradeId: steamTrade, offerId: null })
    session.accept(offerId)
    till.clock.advance(60_000)
    await trade(bot, tradeId)
    const line = { level: 'error', trade: String(tradeId), otherTrade: String(wrong), steamTrade }
    expect(takenLines()).toEqual([expect.objectContaining(line)])
    expect(await states()).toEqual(['final', 'declined'])
  })

  it('makes the bot withdraw the offer that it has just sent, if Steam gave the offer that number', async () => {
    const store = await aStore(till)
    const { tradeId: wrong } = await offerFor(till, bot, await aDeposit(till, store))
    const { tradeId } = await offerFor(till, bot, await aDeposit(till, store))
    const setTrade = (id: bigint, state: 'unknown' | 'intended') =>
      till.db.updateTable('trade').set({ state, steam_offer_id: null }).where('id', '=', id).execute()
    await setTrade(wrong, 'unknown')
    await setTrade(tradeId, 'intended')
    // Steam gives the next offer the number 3.
    await creditTrade(operatorOf(till), { tradeId: wrong, steamTradeId: '9900', offerId: '3' })
    await tradeHandlers(till.deps).trade(bot, tradeId)
    const line = { level: 'error', trade: String(tradeId), otherTrade: String(wrong), offer: '3' }
    expect(takenLines()).toEqual([expect.objectContaining(line)])
    expect(session.offers.get('3')?.state).toBe('cancelled')
  })
})
