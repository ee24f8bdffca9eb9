import { afterEach, beforeEach, expect, it } from 'vitest'
import { offerFor } from '../testing/payment.ts'
import { aBot, aDeposit, aStore, startTill, type Till } from '../testing/till.ts'
import { sweepTrades } from './jobs.ts'

let till: Till

beforeEach(async () => {
  till = await startTill()
})
afterEach(() => till.close())

it('the sweep logs no refusal of an intent that a bot took up after the sweep had read it', async () => {
  const { bot } = await aBot(till)
  const deposit = await aDeposit(till, await aStore(till))
  const { tradeId } = await offerFor(till, bot, deposit)
  const { botId } = bot
  const staleIntents = async () => [{ id: tradeId, depositId: deposit.id, botId }]
  await sweepTrades({ ...till.deps, trades: { ...till.deps.trades, staleIntents } })
  expect(till.lines.filter((line) => line.includes('trade was refused'))).toEqual([])
})
