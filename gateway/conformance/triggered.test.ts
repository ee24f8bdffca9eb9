/** The events of `trigger`, and the event log that `listen` forwards, received by a store that uses the npm package. */
import { createServer } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { EVENT_TYPES, type EventType } from '../../contract/event-types.ts'
import { webhookSchema } from '../../contract/webhooks.ts'
import { takeOnce, verifyWebhook } from '../../sdk/index.ts'
import { readConfig } from '../config.ts'
import { publishEvents } from '../events/service.ts'
import { systemClock } from '../kit/clock.ts'
import { trigger } from '../operations/trigger.ts'
import { runCommand } from '../testing/command.ts'
import { payFor } from '../testing/payment.ts'
import { type StoreApi, startStoreApi } from '../testing/store-api.ts'
import { aBot, aDeposit, startTill, type Till } from '../testing/till.ts'
import { SECRET } from '../testing/webhooks.ts'
import { forwardEvents } from './forward.ts'
import { inventedDeposit } from './invented.ts'
import { storyOf } from './story.ts'

let till: Till
let api: StoreApi
let tillUrl: string
let hookUrl: string
let secret = SECRET
/** Statuses of the store's next answers. All later answers are 204. */
let statuses: number[] = []
let received: { type: string; sequence: number }[] = []
/** Sum of the store's credits since the test began, in minor units. */
let balance = 0
/** The store's memory of each deposit. */
const deposits = new Map<string, { sequence: number; spendable: number }>()

const receiver = createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += String(chunk)
  const event = await verifyWebhook({ secret, headers: request.headers, body }).catch(() => undefined)
  if (event === undefined || !('sequence' in event)) return void response.writeHead(400).end()
  received.push({ type: event.type, sequence: event.sequence })
  const status = statuses.shift() ?? 204
  if (status === 204) {
    await takeOnce(
      {
        update({ id }, decide) {
          const settled = decide(deposits.get(id))
          if (settled === undefined) return
          deposits.set(id, settled.kept)
          balance += settled.change
        },
      },
      event,
    )
  }
  response.writeHead(status).end()
})

beforeAll(async () => {
  till = await startTill()
  api = await startStoreApi(till)
  tillUrl = await api.app.listen({ host: '127.0.0.1', port: 0 })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  const address = receiver.address()
  hookUrl = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}/hook`
  await payFor(till, await aBot(till), await aDeposit(till, api.store))
  await publishEvents(till.deps)
})
afterAll(async () => {
  receiver.closeAllConnections()
  receiver.close()
  await api.app.close()
  await till.close()
})
beforeEach(() => {
  received = []
  statuses = []
  balance = 0
  secret = SECRET
})

describe('the story of an invented deposit', () => {
  const AFTER_SEQUENCE = 5
  const eventsOf = (...types: EventType[]) => {
    const order = { externalId: 'a', currency: 'USD', customerReference: null, metadata: {} } as const
    const now = new Date('2026-11-23T12:00:00Z')
    return storyOf(types, { deposit: inventedDeposit('7', order, now), afterSequence: AFTER_SEQUENCE, now })
  }
  /** The deposit's status and spendable amount after each event; an empty list for an event without a deposit. */
  const statusesAndWorth = (...types: EventType[]) =>
    eventsOf(...types).map(({ data }) =>
      'amount' in data ? [data.status, (data.amount ?? 0) - data.heldAmount - data.reversedAmount] : [],
    )

  it.each(EVENT_TYPES)('can have a %s event, in the form that a till sends', (type) => {
    const [event] = eventsOf(type)
    expect(event).toEqual(webhookSchema.parse(event))
    expect(event).toMatchObject({ type, sequence: AFTER_SEQUENCE + 1 })
  })

  it('continues with the same deposit from event to event', () => {
    expect(
      statusesAndWorth('deposit.trade_timeout', 'deposit.succeeded', 'deposit.amount_increased'),
    ).toEqual([
      ['tradeTimeout', 0],
      ['succeeded', 1_000],
      ['succeeded', 1_500],
    ])
    expect(statusesAndWorth('deposit.pending', 'deposit.succeeded', 'deposit.funds_available')).toEqual([
      ['pending', 0],
      ['succeeded', 750],
      ['succeeded', 1_000],
    ])
    expect(statusesAndWorth('deposit.succeeded', 'epoch.started', 'deposit.reversed')).toEqual([
      ['succeeded', 1_000],
      [],
      ['succeeded', 0],
    ])
  })
})

describe('tradetill trigger', () => {
  const run = (...args: string[]) => runCommand(['trigger', ...args, '--json'], { databaseUrl: till.url })

  it('sends the named events, signed, to the store’s webhooks, publishes none, and fails if an answer is not 2xx', async () => {
    const add = ['store', 'add', '--name', 'Other', '--origin', 'http://localhost:8080', '--json']
    const settings = ['--risk-limit-usd', '100', '--webhook-url', hookUrl]
    const added = await runCommand([...add, ...settings], { databaseUrl: till.url })
    const { storeId, webhookSecret } = JSON.parse(added.out)
    secret = webhookSecret
    const types = ['deposit.trade_timeout', 'deposit.succeeded', 'epoch.started', 'deposit.amount_increased']
    const { out, code } = await run('--store', storeId, '--customer', 'nova', ...types)
    expect(code).toBe(0)
    expect(received.map(({ type }) => type)).toEqual(types)
    expect(balance).toBe(1_500)
    expect(JSON.parse(out).deliveries.map(({ status }: { status: number }) => status)).toEqual([
      204, 204, 204, 204,
    ])
    const published = await till.db
      .selectFrom('event')
      .select('id')
      .where('store_id', '=', BigInt(storeId))
      .execute()
    expect(published).toEqual([])
    statuses = [500]
    const refused = await run('--store', storeId, 'deposit.pending')
    expect([refused.code, JSON.parse(refused.errors).error.message]).toEqual([
      4,
      '1 of 1 delivery got no 2xx answer.',
    ])
  })

  it.each([
    [['--store', '99', 'deposit.pending'], 3, 'There is no store 99.'],
    [['--store', '1', 'deposit.pending'], 4, 'Store 1 has no enabled webhook.'],
    [['--store', '1', 'deposit.lost'], 2, 'TYPE must be one of deposit.pending,'],
  ])('refuses %s', async (args, code, message) => {
    const answer = await run(...args)
    expect(answer.code).toBe(code)
    expect(answer.errors).toContain(message)
  })
})

it('tradetill trigger sends no invented event in live mode', async () => {
  const configAnswer = readConfig({ DATABASE_URL: till.url, TRADETILL_MASTER_KEY: 'a'.repeat(64) })
  if (configAnswer.kind === 'refused') throw new Error(configAnswer.problems.join())
  const config = { ...configAnswer.config, mode: 'live', masterKey: Buffer.alloc(32) } as const
  const wanted = { storeId: api.store.id, types: ['deposit.succeeded'] } as const
  const answer = await trigger({ config, db: till.db, clock: till.clock }, wanted)
  expect(answer).toMatchObject({
    kind: 'refused',
    refusal: 'conflict',
    message: expect.stringContaining('live mode'),
  })
  expect(received).toEqual([])
})

describe('tradetill listen', () => {
  const run = (key: string, ...args: string[]) =>
    runCommand(
      [
        'listen',
        '--till',
        tillUrl,
        '--key',
        key,
        '--forward-to',
        hookUrl,
        '--secret',
        SECRET,
        '--once',
        '--json',
        ...args,
      ],
      { databaseUrl: 'postgres://nobody@127.0.0.1:9/none' },
    )

  it('forwards the log in order, without a database, and begins after the given event', async () => {
    const { out, code } = await run(api.key)
    expect([code, JSON.parse(out)]).toEqual([0, { sequence: 2, sent: 2 }])
    expect(received).toEqual([
      { type: 'deposit.pending', sequence: 1 },
      { type: 'deposit.succeeded', sequence: 2 },
    ])
    // The deposit was paid with items of 10.00 and 20.00.
    expect(balance).toBe(3_000)
    expect(JSON.parse((await run(api.key, '--after', '1')).out)).toEqual({ sequence: 2, sent: 1 })
    expect(balance).toBe(3_000)
  })

  it('repeats an event until it is accepted, and sends no later event before that', async () => {
    statuses = [500, 302, 204]
    const waits: number[] = []
    const answers: string[] = []
    const forwarded = await forwardEvents(
      {
        clock: systemClock,
        wait: async (ms) => void waits.push(ms),
        onTry: ({ sequence }, answer) => void answers.push(`${sequence} ${answer}`),
      },
      { till: new URL(tillUrl), apiKey: api.key, to: new URL(hookUrl), secret: SECRET, after: 0, once: true },
    )
    expect(forwarded).toEqual({ kind: 'ended', sequence: 2, sent: 2 })
    expect(answers).toEqual(['1 500', '1 302', '1 204', '2 204'])
    expect(waits).toEqual([1_000, 2_000])
  })

  it('reports that the till refuses the API key, or a cursor beyond its log', async () => {
    expect(await run('tt_test_wrong')).toMatchObject({
      code: 4,
      errors: expect.stringContaining('unauthorized'),
    })
    expect(await run(api.key, '--after', '9')).toMatchObject({
      code: 4,
      errors: expect.stringContaining('cursor_ahead'),
    })
  })
})
