/** A bot whose holder no longer receives answers from the database. */
import { randomBytes, randomUUID } from 'node:crypto'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createQueue } from '../db/boss-queue.ts'
import { type Database, openPool } from '../db/client.ts'
import { type ConnectionGroup, createConnectionGroup } from '../db/connections.ts'
import type { Queue } from '../db/queue.ts'
import { systemClock } from '../kit/clock.ts'
import { createSecretBox } from '../kit/secret-box.ts'
import { addBot, IDLE_HANDLERS } from '../testing/bots.ts'
import { BOT_TOKEN, type CountingSteam, countingSteam } from '../testing/counting-steam.ts'
import { type TestDatabase, testDatabase } from '../testing/database.ts'
import { captureLog } from '../testing/log.ts'
import { type SilentProxy, startSilentProxy } from '../testing/silent-proxy.ts'
import type { BotContext } from './bot.ts'
import { LEASE_MS } from './lease-store.ts'
import { startBots } from './runner.ts'
import { listBots } from './store.ts'

const box = createSecretBox(randomBytes(32))
/** A write needs a lease that lasts longer than this. */
const WRITE_DEADLINE_MS = 15_000

let database: TestDatabase
let proxy: SilentProxy
let connections: ConnectionGroup
let leases: Database
let queue: Queue
let steam: CountingSteam
let contexts: BotContext[]
let nowMs: number
let bots: { stop(): Promise<void> }

beforeEach(async () => {
  database = await testDatabase()
  proxy = await startSilentProxy(database.url)
  connections = createConnectionGroup()
  // Only connecting gets a shorter deadline: statements keep theirs, which is longer than a test can wait.
  leases = openPool({ url: proxy.url, size: 2, mode: 'live', connections, connectMs: 500 })
  const { log } = captureLog()
  queue = await createQueue({ url: database.url, log })
  steam = countingSteam()
  contexts = []
  nowMs = 0
  await addBot({ db: database.db, steam, box, clock: systemClock, refreshToken: BOT_TOKEN })
  const watch = async (bot: BotContext) => {
    contexts.push(bot)
    return 0
  }
  bots = startBots({
    db: leases.db,
    queue,
    steam,
    box,
    log,
    clock: systemClock,
    owner: randomUUID(),
    handlers: { ...IDLE_HANDLERS, watch },
    pace: { beatMs: 100 },
    monotonicMs: () => nowMs,
    scanMs: 100,
  })
  await expectOnline()
})
afterEach(async () => {
  proxy.pass()
  connections.cut('all')
  await bots.stop()
  await queue.stop()
  await leases.close()
  await proxy.close()
  await database.close()
})

const expectOnline = () => expect.poll(() => listBots(database.db)).toMatchObject([{ reachable: true }])

it('a bot is given up when its lease ends, even if statements are waiting, and taken again when the database answers', async () => {
  const [bot] = contexts
  expect(bot?.mayWrite(WRITE_DEADLINE_MS)).toBe(true)

  proxy.swallow()
  nowMs += LEASE_MS - 1
  expect(bot?.mayWrite(WRITE_DEADLINE_MS)).toBe(false)
  expect(steam.open).toBe(1)
  nowMs += 1
  await expect.poll(() => steam.open).toBe(0)
  expect(bot?.mayWrite(1)).toBe(false)

  // Another process takes the bot meanwhile, and stops.
  await database.pool.query(`update bot set lease_epoch = lease_epoch + 1, lease_until = now()`)
  proxy.pass()
  connections.cut('all')
  await expect.poll(() => contexts).toHaveLength(2)
  await expectOnline()
  expect(contexts[1]?.leaseEpoch).toBe((bot?.leaseEpoch ?? 0n) + 2n)
  expect(steam.mostOpen).toBe(1)
})

it('a process that stops closes the session of its bot without waiting for the database', async () => {
  proxy.swallow()
  const { promise: ended, resolve } = Promise.withResolvers<string>()
  void bots.stop().then(() => resolve('stopped'))
  await expect.poll(() => steam.open).toBe(0)
  connections.cut('all')
  expect(await ended).toBe('stopped')
})
