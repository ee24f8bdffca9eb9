/** What a bot that is out of service leaves of the alarms about it. */
import { Registry } from 'prom-client'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createDriftGauges, surveyDrift } from '../drift/jobs.ts'
import { createDriftStore } from '../drift/store.ts'
import { driftHandler } from '../drift/watch.ts'
import { payFor } from '../testing/payment.ts'
import { aBot, aDeposit, aStore, jump, startTill, type Till } from '../testing/till.ts'
import { tradeHandlers } from '../trades/advance.ts'
import { DEFAULT_FLEET_LIMITS } from './fleet.ts'
import { createBotGauges, surveyBots } from './jobs.ts'
import { actOnBot } from './operator.ts'

const WEEK_S = 7 * 86_400

let till: Till
beforeEach(async () => {
  till = await startTill()
})
afterEach(() => till.close())

/** The names of the series that have a value for a bot. */
async function seriesOfBots(): Promise<string[]> {
  const { db, clock } = till
  const registry = new Registry()
  const gauges = { ...createBotGauges(registry), ...createDriftGauges(registry) }
  const limits = DEFAULT_FLEET_LIMITS
  await surveyBots({ db, clock, log: till.deps.log, limits, gauges, watchTokens: () => {} })
  await surveyDrift({ db, clock, gauges })
  const text = await registry.metrics()
  return [...new Set([...text.matchAll(/^(\w+)\{bot=/gm)].map(([, name = '']) => name))].sort()
}

it('a retired bot has no figures that only a working bot could bring back to normal', async () => {
  const { bot, session } = await aBot(till)
  await payFor(till, { bot, session }, await aDeposit(till, await aStore(till)))
  await tradeHandlers(till.deps).history(bot)
  await driftHandler({ ...till.deps, drift: createDriftStore(till.db) })(bot)
  const ofWorker = [
    'tradetill_bot_custody_look_seconds',
    'tradetill_bot_history_seconds',
    'tradetill_bot_room',
  ]
  expect(await seriesOfBots()).toEqual(expect.arrayContaining(ofWorker))
  await actOnBot(till.db, String(bot.botId), 'retire')
  await jump(till, WEEK_S)
  // Its items, and what is missing of them, are still in the books.
  expect(await seriesOfBots()).toEqual(['tradetill_bot_custody_drift', 'tradetill_bot_items'])
})
