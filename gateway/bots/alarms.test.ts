/** The figures of bots that alerts follow. */
import { sql } from 'kysely'
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

/** Returns the survey of bots, and a reader of the figures that it set. */
function createSurvey() {
  const { db, clock } = till
  const registry = new Registry()
  const gauges = createBotGauges(registry)
  const limits = DEFAULT_FLEET_LIMITS
  return {
    survey: () => surveyBots({ db, clock, log: till.deps.log, limits, gauges, watchTokens: () => {} }),
    figures: async () =>
      (await registry.metrics()).split('\n').filter((line) => /^tradetill_bot_\w+\{bot=/.test(line)),
  }
}

/** The figures of bots, such as `tradetill_bot_history_seconds{bot="…"} 60`. */
async function figuresOfBots(): Promise<string[]> {
  const { db, clock } = till
  const registry = new Registry()
  const gauges = { ...createBotGauges(registry), ...createDriftGauges(registry) }
  const limits = DEFAULT_FLEET_LIMITS
  await surveyBots({ db, clock, log: till.deps.log, limits, gauges, watchTokens: () => {} })
  await surveyDrift({ db, clock, gauges })
  return (await registry.metrics()).split('\n').filter((line) => line.includes('{bot='))
}

/** The names of the series that have a value for a bot. */
async function seriesOfBots(): Promise<string[]> {
  const names = (await figuresOfBots()).map((line) => line.slice(0, line.indexOf('{')))
  return [...new Set(names)].sort()
}

it('before the first reading, the age of a bot’s history counts from its first item, and that of its inventory from its enrolment', async () => {
  const { bot, session } = await aBot(till)
  await jump(till, WEEK_S)
  await payFor(till, { bot, session }, await aDeposit(till, await aStore(till)))
  await jump(till, 10_800)
  const secondsOf = async (series: string) => {
    const figure = (await figuresOfBots()).find((line) => line.startsWith(series))
    return Math.round(Number(figure?.split(' ')[1]) / 60) * 60
  }
  expect(await secondsOf('tradetill_bot_history_seconds')).toBe(10_800)
  expect(await secondsOf('tradetill_bot_custody_look_seconds')).toBe(WEEK_S + 10_800)
})

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

it('a survey that fails leaves the figures of the one before, so no alert ends with it', async () => {
  await aBot(till)
  const { survey, figures } = createSurvey()
  await survey()
  const before = await figures()
  expect(before.length).toBeGreaterThan(0)
  await sql`alter table bot_bar rename to unreadable`.execute(till.db)
  await expect(survey()).rejects.toThrow('bot_bar')
  expect(await figures()).toEqual(before)
})
