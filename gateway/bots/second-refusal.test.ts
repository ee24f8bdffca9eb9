/** A token that Steam refuses by mistake, and refuses again by mistake much later. */
import { randomBytes, randomUUID } from 'node:crypto'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createQueue } from '../db/boss-queue.ts'
import type { Queue } from '../db/queue.ts'
import { systemClock } from '../kit/clock.ts'
import { createSecretBox } from '../kit/secret-box.ts'
import { addBot, IDLE_HANDLERS } from '../testing/bots.ts'
import { BOT_TOKEN, type CountingSteam, countingSteam } from '../testing/counting-steam.ts'
import { type TestDatabase, testDatabase } from '../testing/database.ts'
import { captureLog } from '../testing/log.ts'
import type { BotContext } from './bot.ts'
import { startBots } from './runner.ts'
import { listBots } from './store.ts'

let database: TestDatabase
let queue: Queue
let steam: CountingSteam
let contexts: BotContext[]
let bots: { stop(): Promise<void> }

beforeEach(async () => {
  database = await testDatabase()
  const { log } = captureLog()
  queue = await createQueue({ url: database.url, log })
  steam = countingSteam()
  contexts = []
  const { db } = database
  const box = createSecretBox(randomBytes(32))
  await addBot({ db, steam, box, clock: systemClock, refreshToken: BOT_TOKEN })
  const watch = async (bot: BotContext) => {
    contexts.push(bot)
    return 0
  }
  const handlers = { ...IDLE_HANDLERS, watch }
  const deps = { db, queue, steam, box, log, clock: systemClock, owner: randomUUID(), handlers }
  steam.session = 'dead'
  bots = startBots({ ...deps, pace: { beatMs: 500 }, scanMs: 500 })
})
afterEach(async () => {
  await bots.stop()
  await queue.stop()
  await database.close()
})

const tokenState = () =>
  database.db.selectFrom('bot').select(['state', 'login_after', 'token_refused_at']).executeTakeFirstOrThrow()

it('D-18 does not make the bot dead, because it was accepted in between', async () => {
  await expect.poll(async () => (await tokenState()).login_after).not.toBeNull()
  steam.session = 'open'
  // The first refusal was two hours ago.
  await database.pool.query(
    `update bot set login_after = till_now(), token_refused_at = token_refused_at - interval '2 hours'`,
  )
  await expect.poll(async () => (await listBots(database.db))[0]).toMatchObject({ reachable: true })
  steam.session = 'dead'
  steam.answers = 'dead'
  await contexts[0]?.session.readOffer('1')
  await expect.poll(tokenState).toMatchObject({ state: 'active', login_after: expect.any(Date) })
  const { token_refused_at: refusedAt } = await tokenState()
  expect(Date.now() - Number(refusedAt)).toBeLessThan(600_000)
})
