/** Steam's records that contradict a trade: incomplete ones, and ones that only a person can judge. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { BotContext } from '../bots/bot.ts'
import { type FakeSession, steamTradeIdOf } from '../testing/fake-steam.ts'
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

const theTrade = () => till.db.selectFrom('trade').selectAll().executeTakeFirstOrThrow()
const errors = () =>
  till.lines.filter((line) => line.includes('record of the Steam trade contradicts the trade'))

it('a late acceptance whose Steam trade lacks its items at the last review is credited as soon as Steam shows the items', async () => {
  const { tradeId } = await offerFor(till, bot, await aDeposit(till, await aStore(till)))
  const offer = session.offers.get('1')
  if (offer === undefined) throw new Error('Steam has no offer')
  session.offers.set('1', { ...offer, state: 'declined' })
  const { watch, trade } = tradeHandlers(till.deps)
  await watch(bot)
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
