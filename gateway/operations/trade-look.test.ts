import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { actOnBot } from '../bots/operator.ts'
import { DAY_MS } from '../kit/duration.ts'
import { operatorOf } from '../testing/operator.ts'
import { payFor } from '../testing/payment.ts'
import { aBot, aDeposit, aStore, startTill, type Till } from '../testing/till.ts'
import { tradeHandlers } from '../trades/advance.ts'
import { eraseShopper } from './shoppers.ts'
import { lookAtTrade } from './trades.ts'

let till: Till

beforeEach(async () => {
  till = await startTill()
})
afterEach(() => till.close())

const trade = () => till.db.selectFrom('trade').select(['id', 'due_at', 'look_at']).executeTakeFirstOrThrow()

/** A delivered trade about which nothing is left to ask, and its bot. */
async function aFinishedTrade() {
  const collector = await aBot(till)
  await payFor(till, collector, await aDeposit(till, await aStore(till)))
  till.clock.advance(DAY_MS)
  await tradeHandlers(till.deps).trade(collector.bot, (await trade()).id)
  expect(await trade()).toMatchObject({ due_at: null, look_at: null })
  return { botId: collector.bot.botId, tradeId: (await trade()).id }
}

describe('a look at a trade whose bot cannot ask Steam', () => {
  it.each(['retire', 'remove'] as const)(
    'is refused after the act "bot %s", and leaves nothing due',
    async (act) => {
      const { botId, tradeId } = await aFinishedTrade()
      expect(await actOnBot(till.db, String(botId), act)).toMatchObject({ kind: 'done' })
      expect(await lookAtTrade(operatorOf(till), tradeId)).toMatchObject({ refusal: 'conflict' })
      expect(await trade()).toMatchObject({ due_at: null, look_at: null })
    },
  )

  it('is refused while the bot is dead', async () => {
    const { tradeId } = await aFinishedTrade()
    await till.db.updateTable('bot').set({ state: 'dead' }).execute()
    expect(await lookAtTrade(operatorOf(till), tradeId)).toMatchObject({ refusal: 'conflict' })
  })

  it('is possible while the bot is paused', async () => {
    const { botId, tradeId } = await aFinishedTrade()
    await actOnBot(till.db, String(botId), 'pause')
    expect(await lookAtTrade(operatorOf(till), tradeId)).toMatchObject({ kind: 'done' })
  })
})

it('a look at a trade whose shopper was erased is refused: Steam’s record would contradict the trade', async () => {
  const { tradeId } = await aFinishedTrade()
  const { partner_steam_id: steamId } = await till.db
    .selectFrom('trade')
    .select('partner_steam_id')
    .executeTakeFirstOrThrow()
  expect(await eraseShopper(operatorOf(till), steamId)).toMatchObject({ data: { trades: 1 } })
  expect(await lookAtTrade(operatorOf(till), tradeId)).toMatchObject({ refusal: 'conflict' })
  expect(await trade()).toMatchObject({ due_at: null, look_at: null })
})
