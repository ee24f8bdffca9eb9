/** A token that Steam refuses long after it accepted it. */
import { randomBytes, randomUUID } from 'node:crypto'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createQueue } from '../db/boss-queue.ts'
import type { Queue } from '../db/queue.ts'
import { systemClock } from '../kit/clock.ts'
import { createSecretBox } from '../kit/secret-box.ts'
import { addBot, IDLE_HANDLERS } from '../testing/bots.ts'
import { BOT_STEAM_ID, BOT_TOKEN, type CountingSteam, countingSteam } from '../testing/counting-steam.ts'
import { type TestDatabase, testDatabase } from '../testing/database.ts'
import { type CapturedLog, captureLog } from '../testing/log.ts'
import { countWaiting } from '../testing/waiting.ts'
import type { BotContext } from './bot.ts'
import { startBots } from './runner.ts'
import { tokenPlace } from './service.ts'
import { listBots } from './store.ts'

const box = createSecretBox(randomBytes(32))

let database: TestDatabase
let captured: CapturedLog
let queue: Queue
let steam: CountingSteam
/** The token that Steam accepts. */
let accepted: string
let contexts: BotContext[]
let bots: { stop(): Promise<void> }
/** Resolves when Steam has judged a token. */
let steamJudges: () => Promise<void>

beforeEach(async () => {
  database = await testDatabase()
  captured = captureLog()
  const { log } = captured
  queue = await createQueue({ url: database.url, log })
  steam = countingSteam()
  contexts = []
  const { db } = database
  await addBot({ db, steam, box, clock: systemClock, refreshToken: BOT_TOKEN })
  const watch = async (bot: BotContext) => {
    contexts.push(bot)
    return 0
  }
  const handlers = { ...IDLE_HANDLERS, watch }
  accepted = BOT_TOKEN
  steamJudges = async () => {}
  const openSession = async (token: string) => {
    await steamJudges()
    return steam.openSession(token === accepted ? BOT_TOKEN : 'refused')
  }
  const deps = {
    db,
    queue,
    steam: { ...steam, openSession },
    box,
    log,
    clock: systemClock,
    owner: randomUUID(),
    handlers,
  }
  bots = startBots({ ...deps, pace: { beatMs: 500 }, scanMs: 500 })
})
afterEach(async () => {
  await bots.stop()
  await queue.stop()
  await database.close()
})

const tokenState = () =>
  database.db.selectFrom('bot').select(['state', 'login_after', 'token_refused_at']).executeTakeFirstOrThrow()

const expectOnline = () =>
  expect.poll(async () => (await listBots(database.db))[0]).toMatchObject({ reachable: true })

/** Steam ends the bot's session. */
async function endSession(): Promise<void> {
  steam.answers = 'dead'
  await contexts.at(-1)?.session.readOffer('1')
  steam.answers = 'good'
}

it('D-18 a refused token does not make the bot dead if Steam accepted it since an earlier refusal', async () => {
  await expectOnline()
  accepted = 'none'
  await endSession()
  await expect.poll(async () => (await tokenState()).login_after).not.toBeNull()
  accepted = BOT_TOKEN
  // The first refusal was two hours ago.
  await database.pool.query(
    `update bot set login_after = till_now(), token_refused_at = token_refused_at - interval '2 hours'`,
  )
  await expectOnline()
  accepted = 'none'
  await endSession()
  await expect.poll(tokenState).toMatchObject({ state: 'active', login_after: expect.any(Date) })
  const { token_refused_at: refusedAt } = await tokenState()
  expect(Date.now() - Number(refusedAt)).toBeLessThan(600_000)
})

it('a token that an operator has replaced is not tried again: the bot logs in with the new one', async () => {
  await expectOnline()
  await renewToken('the new token')
  accepted = 'the new token'
  await endSession()
  await expect.poll(() => contexts.length).toBe(2)
  await expectOnline()
  expect(contexts[1]?.leaseEpoch).toBe(contexts[0]?.leaseEpoch)
  expect(captured.lines.join('')).not.toContain('Steam refused the bot’s token')
})

/** Stores a token as a renewal does. */
async function renewToken(token: string): Promise<void> {
  const sealed = box.seal(token, tokenPlace(BOT_STEAM_ID))
  await database.db
    .updateTable('bot')
    .set({ refresh_token: sealed, token_refused_at: null, login_after: null })
    .execute()
}

it('the refusal of a new token does not count as a later refusal of the token that it replaced', async () => {
  await expectOnline()
  accepted = 'none'
  await endSession()
  await expect.poll(async () => (await tokenState()).login_after).not.toBeNull()
  steam.session = 'down'
  await database.pool.query(
    `update bot set login_after = till_now(), token_refused_at = token_refused_at - interval '2 hours'`,
  )
  await expect
    .poll(async () => (await listBots(database.db))[0])
    .toMatchObject({ stateReason: expect.stringContaining('ECONNREFUSED') })
  await renewToken('the new token')
  steam.session = 'open'
  await expect.poll(tokenState).toMatchObject({ state: 'active', login_after: expect.any(Date) })
})

it('the refusal of an old token does not put off the login with a new one that the process learnt of too late', async () => {
  await expectOnline()
  const judged = Promise.withResolvers<void>()
  const opening = Promise.withResolvers<void>()
  steamJudges = async () => {
    opening.resolve()
    await judged.promise
  }
  const client = await database.pool.connect()
  await client.query('begin')
  await client.query('lock table bot in access exclusive mode')
  const sealed = box.seal('the new token', tokenPlace(BOT_STEAM_ID))
  await client.query('update bot set refresh_token = $1', [sealed])
  accepted = 'the new token'
  await endSession()
  await opening.promise
  await client.query('commit')
  client.release()
  // The process's read of the token ends only now, after it has asked Steam with the old one.
  await expect.poll(() => countWaiting(database.db)).toBe(0)
  judged.resolve()
  await expect.poll(() => contexts.length).toBe(2)
})
