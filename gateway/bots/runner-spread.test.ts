/** Several processes on one database: how many bots each holds, and which. */
import { randomBytes, randomUUID } from 'node:crypto'
import { Registry } from 'prom-client'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Queue } from '../db/queue.ts'
import { takeLeasesBack } from '../epochs/store.ts'
import { systemClock } from '../kit/clock.ts'
import { createSecretBox, type SecretBox } from '../kit/secret-box.ts'
import { insertAct } from '../operations/store.ts'
import { IDLE_HANDLERS } from '../testing/bots.ts'
import { type TestDatabase, testDatabase } from '../testing/database.ts'
import { fakeSession } from '../testing/fake-steam.ts'
import { type CapturedLog, captureLog } from '../testing/log.ts'
import type { BotHandlers } from './bot.ts'
import { DEFAULT_FLEET_LIMITS } from './fleet.ts'
import { createBotGauges, surveyBots } from './jobs.ts'
import { countProcessesWithOtherKeys } from './process-store.ts'
import { startBots } from './runner.ts'
import { tokenPlace } from './service.ts'
import { saveBot } from './store.ts'

const KEY = randomBytes(32)
const box = createSecretBox(KEY)
const doNothing = async () => {}
const NO_JOBS: Queue = { ensure: doNothing, send: doNothing, work: async () => doNothing, stop: doNothing }

let database: TestDatabase
let captured: CapturedLog
let running: { stop(): Promise<void> }[]

beforeEach(async () => {
  database = await testDatabase()
  captured = captureLog()
  running = []
})
afterEach(async () => {
  await Promise.all(running.map((bots) => bots.stop()))
  await database.close()
})

async function enrol(count: number): Promise<void> {
  for (let number = 1; number <= count; number += 1) {
    const steamId = `765611980000000${10 + number}`
    const profile = {
      steamId,
      name: `Bot #${number}`,
      level: 1,
      avatarUrl: '/a',
      profileUrl: '/p',
      memberSince: null,
    }
    const sealed = box.seal(steamId, tokenPlace(steamId))
    await saveBot(database.db, profile, { sealed, expiresAt: null, acknowledged: true })
  }
}

/** Starts a process that constantly looks for bots. Its monotonic clock stands still, so it loses no lease. */
function start({
  maxBots = 50,
  handlers = {},
  box: ownBox = box,
  pace = {},
}: {
  maxBots?: number
  handlers?: Partial<BotHandlers>
  box?: SecretBox
  pace?: { beatMs?: number }
} = {}) {
  const owner = randomUUID()
  const processCounts: number[] = []
  const bots = startBots({
    db: database.db,
    queue: NO_JOBS,
    steam: {
      openSession: async (token) => ({ kind: 'open', session: fakeSession(token), expiresAt: null }),
      readProfile: async () => ({ kind: 'unknown_account' }),
    },
    box: ownBox,
    log: captured.log,
    clock: systemClock,
    owner,
    maxBots,
    handlers: { ...IDLE_HANDLERS, ...handlers },
    monotonicMs: () => 0,
    pace,
    scanMs: 10,
    onProcesses: (count) => processCounts.push(count),
  })
  running.push(bots)
  return { owner, processCounts, ...bots }
}

/** Records this act and ends all leases, as the act does, but the bots may be held again at once. */
const takeBack = (act: string) =>
  database.db.transaction().execute(async (tx) => {
    await insertAct(tx, { at: new Date(), operator: 'Ada', act, arguments: '{}', reason: null })
    await takeLeasesBack(tx)
  })

type HeldBot = { id: string; owner: string; leaseEpoch: string }

async function heldBots(): Promise<HeldBot[]> {
  const { rows } = await database.pool.query<HeldBot>(
    'select id::text, lease_owner as owner, lease_epoch::text as "leaseEpoch" from bot where online and lease_until > now() order by id',
  )
  return rows
}
const botsOf = async ({ owner }: { owner: string }) => (await heldBots()).filter((bot) => bot.owner === owner)
const counts =
  (...processes: { owner: string }[]) =>
  async () =>
    Promise.all(processes.map(async (process) => (await botsOf(process)).length))

it('two processes hold equal numbers of bots, and one keeps its bots while the other restarts', async () => {
  await enrol(6)
  const first = start()
  await expect.poll(counts(first)).toEqual([6])
  const second = start()
  await expect.poll(counts(first, second)).toEqual([3, 3])

  const botsOfSecond = await botsOf(second)
  await first.stop()
  await expect.poll(counts(first, second)).toEqual([0, 6])
  const restarted = start()
  await expect.poll(counts(restarted, second)).toEqual([3, 3])
  expect(await botsOf(second)).toEqual(botsOfSecond)
  expect(captured.lines.join('')).not.toContain('was lost')
})

it('a process without bots counts as a process, and as a holder of its master key', async () => {
  await enrol(3)
  const withoutBots = start({ maxBots: 0 })
  const withBots = start()
  await expect.poll(counts(withoutBots, withBots)).toEqual([0, 3])
  await expect.poll(() => withoutBots.processCounts.at(-1)).toBe(2)
  expect(await countProcessesWithOtherKeys(database.db, 'another')).toBe(2)
})

it('a process reports that another seals with a key that it lacks, and one that has the key reports nothing', async () => {
  const newKey = randomBytes(32)
  const lacking = start()
  const prepared = start({ box: createSecretBox(KEY, [newKey]) })
  const errors = () => captured.lines.filter((line) => line.includes('seals with a master key'))
  await expect.poll(() => [lacking.processCounts.at(-1), prepared.processCounts.at(-1)]).toEqual([2, 2])
  expect(errors()).toEqual([])
  const rotated = createSecretBox(newKey, [KEY])
  start({ box: rotated })
  await expect.poll(() => prepared.processCounts.at(-1)).toBe(3)
  await expect.poll(errors).toEqual([expect.stringContaining(`${rotated.fingerprint.slice(0, 8)}…`)])
  expect(errors()[0]).toContain('TRADETILL_OLD_MASTER_KEYS_FILE')
})

it.each([
  ['', "now() - interval '26 seconds'"],
  [', even if the database’s clock was set back since', "now() + interval '2 hours'"],
])('the share of a killed process goes to the other process%s', async (_since, lastBeat) => {
  await enrol(4)
  const first = start()
  await expect.poll(counts(first)).toEqual([4])
  // The row of a second process, whose share is two bots.
  await database.pool.query(
    `insert into gateway_process (owner, max_bots, beat_at) values (gen_random_uuid(), 50, now())`,
  )
  await expect.poll(counts(first)).toEqual([2])
  await database.pool.query(`update gateway_process set beat_at = ${lastBeat} where owner <> $1`, [
    first.owner,
  ])
  await expect.poll(counts(first)).toEqual([4])
})

it.each([
  ['the bots are disarmed and armed again', 'bot disarm'],
  ['a new epoch begins', 'restore finish'],
])('a process that loses a bot because %s logs no error', async (_how, act) => {
  await enrol(1)
  await expect.poll(counts(start({ pace: { beatMs: 10 } }))).toEqual([1])
  await takeBack(act)
  await expect
    .poll(() => captured.lines.filter((line) => line.includes('lease of a')))
    .toEqual([expect.stringMatching(/^{"level":"info".*lease of a bot was given up/)])
})

describe('a process with too many bots', () => {
  it('keeps its bots while they are busy, and gives up its surplus once they are idle', async () => {
    await enrol(4)
    const busy = Promise.withResolvers<number>()
    const watched: bigint[] = []
    const first = start({
      handlers: {
        watch: (bot) => {
          watched.push(bot.botId)
          return busy.promise
        },
      },
    })
    await expect.poll(() => watched).toHaveLength(4)
    const second = start()
    const processCount = async () => (await database.pool.query('select from gateway_process')).rowCount
    await expect.poll(processCount).toBe(2)
    // Even after several checks that found a surplus, no busy bot has been given up.
    const lastBeat = async () => {
      const { rows } = await database.pool.query<{ beat: string }>(
        'select beat_at::text as beat from gateway_process where owner = $1',
        [first.owner],
      )
      return rows[0]?.beat
    }
    for (let look = 0; look < 3; look += 1) {
      const before = await lastBeat()
      await expect.poll(lastBeat).not.toBe(before)
      // A process without bots also uses its master key, so a rotation of the key must wait for it.
      expect(await countProcessesWithOtherKeys(database.db, box.fingerprint)).toBe(0)
      expect(await countProcessesWithOtherKeys(database.db, 'another')).toBe(await processCount())
    }
    expect((await botsOf(second)).length).toBe(0)
    busy.resolve(0)
    await expect.poll(counts(first, second)).toEqual([2, 2])
  })
})

it('a bot for which no process has room is reported', async () => {
  await enrol(3)
  const first = start({ maxBots: 1 })
  const second = start({ maxBots: 1 })
  await expect.poll(counts(first, second)).toEqual([1, 1])
  const registry = new Registry()
  const { db } = database
  await surveyBots({
    db,
    clock: systemClock,
    log: captured.log,
    limits: DEFAULT_FLEET_LIMITS,
    gauges: createBotGauges(registry),
    watchTokens: () => {},
  })
  expect(await registry.metrics()).toContain('tradetill_bots_unheld 1')
  expect(captured.lines.join('')).toContain('raise TRADETILL_MAX_BOTS')
})
