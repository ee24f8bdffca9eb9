import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { fakeSession } from '../testing/fake-steam.ts'
import { captureLog } from '../testing/log.ts'
import { type Receiver, startReceiver, status } from '../testing/receiver.ts'
import { aBot, jump, startTill, type Till } from '../testing/till.ts'
import { ATTEMPTS, LONGEST_WAIT_MS } from '../webhooks/schedule.ts'
import { createSender } from '../webhooks/sender.ts'
import { type AlertDeps, sendAlerts, sendTestAlert } from './service.ts'

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

let till: Till
let receiver: Receiver
let deps: AlertDeps

beforeAll(async () => {
  till = await startTill()
  receiver = await startReceiver()
})
afterAll(async () => {
  await receiver.close()
  await till.close()
})
beforeEach(async () => {
  receiver.received.length = 0
  await till.db.deleteFrom('alert').execute()
  await till.db.updateTable('bot').set({ state: 'removed' }).execute()
  const { db, deps: tillDeps } = till
  deps = {
    ...{ db, clock: tillDeps.clock, log: captureLog().log, consoleUrl: 'https://ops.test' },
    ...{ uuid: () => crypto.randomUUID(), random: () => 0.5 },
    send: createSender({ mode: 'sandbox', findAllowance: async () => ({ inside: true }) }),
    alerts: { url: receiver.url, secret: SECRET },
  }
})

let bots = 0

/** Inserts a bot whose token Steam refuses. */
async function insertDeadBot(): Promise<bigint> {
  bots += 1
  const { bot } = await aBot(till, fakeSession(`7656119800000000${bots}`))
  await till.db.updateTable('bot').set({ state: 'dead' }).where('id', '=', bot.botId).execute()
  return bot.botId
}

/** Advances the till's clock by this many minutes, and checks for alerts every half minute. */
async function passMinutes(minutes: number): Promise<void> {
  for (let halfMinute = 0; halfMinute < 2 * minutes; halfMinute += 1) {
    await sendAlerts(deps)
    await jump(till, 30)
  }
  await sendAlerts(deps)
}

const headerTexts = (headers: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))

const reports = () => receiver.received.map(({ body }) => JSON.parse(body).data)

test('a problem that needs a person is reported in a signed message, and reported again whenever its count rises', async () => {
  await insertDeadBot()
  await passMinutes(5)
  expect(reports()).toMatchObject([
    { kind: 'botsDead', count: 1, text: '1 bot whose token Steam refuses', consoleUrl: 'https://ops.test' },
  ])
  const [first] = receiver.received
  const verify = () => new Webhook(SECRET).verify(first?.body ?? '', headerTexts(first?.headers ?? {}))
  expect(verify()).toMatchObject({ type: 'operator.needed' })

  const secondBotId = await insertDeadBot()
  await passMinutes(5)
  expect(reports().map(({ count }) => count)).toEqual([1, 2])
  // A lower count is not reported; a rise after it is.
  await till.db.updateTable('bot').set({ state: 'removed' }).where('id', '=', secondBotId).execute()
  await passMinutes(5)
  await insertDeadBot()
  await passMinutes(5)
  expect(reports().map(({ count }) => count)).toEqual([1, 2, 2])
})

test('a problem that passes within a minute is not reported', async () => {
  await insertDeadBot()
  await sendAlerts(deps)
  await till.db.updateTable('bot').set({ state: 'removed' }).execute()
  await passMinutes(5)
  expect(reports()).toEqual([])
})

test('a count that rises and falls back within a minute is not reported again', async () => {
  await insertDeadBot()
  await passMinutes(2)
  const secondBotId = await insertDeadBot()
  await sendAlerts(deps)
  await till.db.updateTable('bot').set({ state: 'removed' }).where('id', '=', secondBotId).execute()
  await passMinutes(5)
  expect(reports().map(({ count }) => count)).toEqual([1])
  await insertDeadBot()
  await passMinutes(5)
  expect(reports().map(({ count }) => count)).toEqual([1, 2])
})

test('a count that rises and falls within a minute, but stays above the reported one, is reported', async () => {
  await insertDeadBot()
  await passMinutes(2)
  const otherBotIds = [await insertDeadBot(), await insertDeadBot()]
  await sendAlerts(deps)
  await till.db
    .updateTable('bot')
    .set({ state: 'removed' })
    .where('id', '=', otherBotIds[0] ?? 0n)
    .execute()
  await passMinutes(5)
  expect(reports().map(({ count }) => count)).toEqual([1, 2])
})

test('a count that keeps rising is reported a minute after its first rise', async () => {
  for (let halfMinute = 0; halfMinute < 4; halfMinute += 1) {
    await insertDeadBot()
    await sendAlerts(deps)
    await jump(till, 30)
  }
  expect(reports().map(({ count }) => count)).toEqual([3])
})

test('a refused message is retried with the same id, by the schedule and then once a day until it is accepted', async () => {
  receiver.answers.push(...Array.from({ length: ATTEMPTS + 3 }, () => status(500)))
  await insertDeadBot()
  await passMinutes(2)
  const passDays = async (days: number) => {
    for (let hour = 0; hour < 24 * days; hour += 6) {
      await jump(till, 6 * 3_600)
      await sendAlerts(deps)
    }
  }
  await passDays(10)
  expect(reports().length).toBeGreaterThan(ATTEMPTS)
  await passDays(5)
  expect(reports()).toHaveLength(ATTEMPTS + 4)
  expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
})

test('a receiver that is slow with one message gets the others meanwhile', async () => {
  await insertDeadBot()
  const otherBot = await aBot(till, fakeSession('76561198000000999'))
  await till.db
    .updateTable('bot')
    .set({ token_expires_at: deps.clock.now() })
    .where('id', '=', otherBot.bot.botId)
    .execute()
  await sendAlerts(deps)
  await jump(till, 61)
  const { promise: otherSent, resolve } = Promise.withResolvers<void>()
  let calls = 0
  const send: AlertDeps['send'] = async () => {
    calls += 1
    if (calls === 1) await otherSent
    else resolve()
    return { kind: 'answered', status: 204, text: '' }
  }
  await sendAlerts({ ...deps, send })
  expect(calls).toBeGreaterThan(1)
})

test('a date in Retry-After is compared with the machine’s time, however far ahead the till’s clock is', async () => {
  await jump(till, 24 * 3_600)
  const date = new Date(deps.clock.machineNow().getTime() + 2 * 3_600_000)
  receiver.answers.push(status(503, { 'retry-after': date.toUTCString() }))
  await insertDeadBot()
  await passMinutes(60)
  expect(reports()).toHaveLength(1)
  await jump(till, 2 * 3_600)
  await sendAlerts(deps)
  expect(reports()).toHaveLength(2)
})

describe('an alert scheduled by a clock that was ahead', () => {
  const HOUR_MS = 3_600_000
  const timeIn = (ms: number) => new Date(deps.clock.now().getTime() + ms)
  const scheduleAt = (dueAt: Date, attempts: number) =>
    till.db.updateTable('alert').set({ due_at: dueAt, attempts }).execute()
  const dueAt = async () =>
    (await till.db.selectFrom('alert').select('due_at').executeTakeFirstOrThrow()).due_at

  beforeEach(async () => {
    await insertDeadBot()
    await sendAlerts(deps)
  })

  test.each([
    ['was never sent', 0, 2],
    ['waits for a retry', 3, 48],
  ])('and that %s is sent now', async (_, attempts, hours) => {
    await scheduleAt(timeIn(hours * HOUR_MS), attempts)
    await sendAlerts(deps)
    expect(reports()).toHaveLength(1)
    expect(await dueAt()).toBeNull()
  })

  test('waits if it may be a retry after the longest wait', async () => {
    const longest = timeIn(LONGEST_WAIT_MS)
    await scheduleAt(longest, 3)
    await sendAlerts(deps)
    expect(await dueAt()).toEqual(longest)
  })

  test('is not sent by a gateway whose own clock is far behind', async () => {
    const soon = timeIn(10 * HOUR_MS)
    await scheduleAt(soon, 3)
    const now = timeIn(-48 * HOUR_MS)
    await sendAlerts({ ...deps, clock: { ...deps.clock, now: () => now } })
    expect(await dueAt()).toEqual(soon)
  })
})

test('simultaneous checks report a problem once', async () => {
  await insertDeadBot()
  await sendAlerts(deps)
  await jump(till, 61)
  await Promise.all([sendAlerts(deps), sendAlerts(deps), sendAlerts(deps)])
  expect(reports()).toHaveLength(1)
})

test('a test message has a type of its own and the fields and signature of an alert, and is not repeated', async () => {
  const result = await sendTestAlert(deps, { url: receiver.url, secret: SECRET })
  expect(result).toMatchObject({ kind: 'answered', status: 204 })
  await passMinutes(2)
  expect(receiver.received).toHaveLength(1)
  const [first] = receiver.received
  const verifiedAlert = new Webhook(SECRET).verify(first?.body ?? '', headerTexts(first?.headers ?? {}))
  const data = {
    kind: 'test',
    count: 0,
    text: expect.stringContaining('test'),
    consoleUrl: 'https://ops.test',
  }
  expect(verifiedAlert).toMatchObject({ type: 'operator.test', data })
})
