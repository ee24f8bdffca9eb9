/** How a bot's profile is completed if the day on which its account joined Steam is not stored. */
import { randomBytes, randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createQueue } from '../db/boss-queue.ts'
import type { Queue } from '../db/queue.ts'
import { systemClock } from '../kit/clock.ts'
import { createSecretBox } from '../kit/secret-box.ts'
import { addBot, IDLE_HANDLERS } from '../testing/bots.ts'
import { BOT_TOKEN, type CountingSteam, countingSteam } from '../testing/counting-steam.ts'
import { type TestDatabase, testDatabase } from '../testing/database.ts'
import { captureLog } from '../testing/log.ts'
import { startBots } from './runner.ts'
import { listBots } from './store.ts'

const box = createSecretBox(randomBytes(32))
const { log } = captureLog()

let database: TestDatabase
let queue: Queue
let steam: CountingSteam
let running: { stop(): Promise<void> }[]

beforeEach(async () => {
  database = await testDatabase()
  queue = await createQueue({ url: database.url, log })
  steam = countingSteam()
  running = []
})

afterEach(async () => {
  await Promise.all(running.map((bots) => bots.stop()))
  await queue.stop()
  await database.close()
})

function start() {
  const { db } = database
  const bots = startBots({
    db,
    queue,
    steam,
    box,
    log,
    clock: systemClock,
    handlers: IDLE_HANDLERS,
    owner: randomUUID(),
    scanMs: 500,
  })
  running.push(bots)
  return bots
}

const enrol = () => addBot({ db: database.db, steam, box, clock: systemClock, refreshToken: BOT_TOKEN })
const expectOnline = () =>
  expect.poll(async () => (await listBots(database.db))[0]).toMatchObject({ reachable: true })

describe('the profile of a bot', () => {
  const profile = () =>
    database.db.selectFrom('bot').select(['level', 'member_since']).executeTakeFirstOrThrow()

  it('is read and stored when the session opens, if its joining day is not stored', async () => {
    await enrol()
    await database.db.updateTable('bot').set({ member_since: null, level: 5 }).execute()
    start()
    await expect.poll(profile).toEqual({ level: 7, member_since: '2015-03-09' })
    // One read was the enrolment's.
    expect(steam.profileReads).toBe(2)
  })

  it('is not read again once its joining day is stored', async () => {
    await enrol()
    start()
    await expectOnline()
    expect(steam.profileReads).toBe(1)
  })

  it('keeps its level if Steam shows no level, and does not change if Steam shows no joining day', async () => {
    steam.memberSince = null
    await enrol()
    steam.level = 9
    const first = start()
    await expect.poll(() => steam.profileReads).toBe(2)
    await expectOnline()
    await first.stop()
    expect(await profile()).toEqual({ level: 7, member_since: null })
    steam.level = 0
    steam.memberSince = '2015-03-09'
    start()
    await expect.poll(profile).toEqual({ level: 7, member_since: '2015-03-09' })
  })

  it('does not stop the bot from working if it cannot be read', async () => {
    steam.memberSince = null
    await enrol()
    steam.readProfile = () => new Promise(() => {})
    const bots = start()
    await expectOnline()
    await bots.stop()
    expect(steam.open).toBe(0)
  })
})
