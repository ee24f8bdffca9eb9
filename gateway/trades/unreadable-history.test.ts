import { expect, it, onTestFinished } from 'vitest'
import { steamTradeIdOf } from '../testing/fake-steam.ts'
import { payFor } from '../testing/payment.ts'
import { aBot, aDeposit, aStore, startTill } from '../testing/till.ts'
import { tradeHandlers } from './advance.ts'

it('a history is read to its end even if rows are unreadable, with one logged error per pass', async () => {
  const till = await startTill()
  onTestFinished(() => till.close())
  const { bot, session } = await aBot(till)
  await payFor(till, { bot, session }, await aDeposit(till, await aStore(till), { game: 'cs' }))
  const known = session.trades.get(steamTradeIdOf('1'))
  if (known?.kind !== 'trade') throw new Error('no Steam trade')
  session.trades.set('9101', { kind: 'trade', trade: { ...known.trade, tradeId: '9101' } })
  session.pageSize = 1
  session.unreadableTrades = 2
  const { history } = tradeHandlers(till.deps)
  const errors = () => till.lines.filter((line) => line.includes('rows of the history of a bot'))
  await history(bot)
  expect(errors()).toEqual([expect.stringContaining('"rows":2')])
  const passes = till.db.selectFrom('bot_history').select(['begun_at', 'complete_at'])
  expect(await passes.execute()).toEqual([{ begun_at: null, complete_at: expect.any(Date) }])
  await history(bot)
  expect(errors()).toHaveLength(2)
})
