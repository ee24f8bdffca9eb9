import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { fakeSession } from '../testing/fake-steam.ts'
import { captureLog } from '../testing/log.ts'
import { type Receiver, startReceiver, status } from '../testing/receiver.ts'
import { aBot, jump, startTill, type Till } from '../testing/till.ts'
import { ATTEMPTS } from '../webhooks/schedule.ts'
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
  const { db, deps: own } = till
  deps = {
    ...{ db, clock: own.clock, log: captureLog().log, consoleUrl: 'https://ops.test' },
    ...{ uuid: () => crypto.randomUUID(), random: () => 0.5 },
    send: createSender({ mode: 'sandbox', findAllowance: async () => ({ inside: true }) }),
    alerts: { url: receiver.url, secret: SECRET },
  }
})

let bots = 0

/** Inserts a bot whose token Steam refuses. */
async function deadBot(): Promise<bigint> {
  bots += 1
  const { bot } = await aBot(till, fakeSession(`7656119800000000${bots}`))
  await till.db.updateTable('bot').set({ state: 'dead' }).where('id', '=', bot.botId).execute()
  return bot.botId
}

/** Checks every half minute. */
async function minutes(count: number): Promise<void> {
  for (let half = 0; half < 2 * count; half += 1) {
    await sendAlerts(deps)
    await jump(till, 30)
  }
  await sendAlerts(deps)
}

const headersOf = (headers: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))

const reports = () => receiver.received.map(({ body }) => JSON.parse(body).data)

test('a problem that needs a person is reported once, with a signature, and again at each rise', async () => {
  await deadBot()
  await minutes(5)
  expect(reports()).toMatchObject([
    { kind: 'botsDead', count: 1, text: '1 bot whose token Steam refuses', consoleUrl: 'https://ops.test' },
  ])
  const [first] = receiver.received
  const verify = () => new Webhook(SECRET).verify(first?.body ?? '', headersOf(first?.headers ?? {}))
  expect(verify()).toMatchObject({ type: 'operator.needed' })

  const second = await deadBot()
  await minutes(5)
  expect(reports().map(({ count }) => count)).toEqual([1, 2])
  // A lower count is not reported; a rise after it is.
  await till.db.updateTable('bot').set({ state: 'removed' }).where('id', '=', second).execute()
  await minutes(5)
  await deadBot()
  await minutes(5)
  expect(reports().map(({ count }) => count)).toEqual([1, 2, 2])
})

test('a problem that passes within a minute is not reported', async () => {
  await deadBot()
  await sendAlerts(deps)
  await till.db.updateTable('bot').set({ state: 'removed' }).execute()
  await minutes(5)
  expect(reports()).toEqual([])
})

test('a refused message is retried at growing intervals with the same id, and finally given up', async () => {
  receiver.answers.push(...Array.from({ length: 20 }, () => status(500)))
  await deadBot()
  await minutes(2)
  for (let day = 0; day < 60; day += 1) {
    await jump(till, 6 * 3_600)
    await sendAlerts(deps)
  }
  expect(reports()).toHaveLength(ATTEMPTS)
  expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
  receiver.answers.length = 0
})

test('two processes that check at the same time report only once', async () => {
  await deadBot()
  await sendAlerts(deps)
  await jump(till, 61)
  await Promise.all([sendAlerts(deps), sendAlerts(deps), sendAlerts(deps)])
  expect(reports()).toHaveLength(1)
})

test('a test has the fields and the signature of an alert, its own type, and is sent only once', async () => {
  const sent = await sendTestAlert(deps, { url: receiver.url, secret: SECRET })
  expect(sent).toMatchObject({ kind: 'answered', status: 204 })
  await minutes(2)
  expect(receiver.received).toHaveLength(1)
  const [first] = receiver.received
  const read = new Webhook(SECRET).verify(first?.body ?? '', headersOf(first?.headers ?? {}))
  const data = {
    kind: 'test',
    count: 0,
    text: expect.stringContaining('test'),
    consoleUrl: 'https://ops.test',
  }
  expect(read).toMatchObject({ type: 'operator.test', data })
})
