/** Limits of one store, and proofs of its webhook addresses. Both protect the other stores and the till. */
import type { ServerResponse } from 'node:http'
import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createDeposit } from '../deposits/create.ts'
import { publishEvents } from '../events/service.ts'
import { createLimits } from '../http/limits.ts'
import { refuse } from '../http/refusal.ts'
import { createSecretBox } from '../kit/secret-box.ts'
import { createStore, updateStore } from '../stores/service.ts'
import { type Receiver, startReceiver, status } from '../testing/receiver.ts'
import { BACK_URL, type StoreApi, startStoreApi } from '../testing/store-api.ts'
import { aStore, startTill, type Till } from '../testing/till.ts'
import { startLanes } from '../webhooks/lanes.ts'
import { createSender } from '../webhooks/sender.ts'
import type { FindAllowance } from '../webhooks/url.ts'

let till: Till
let api: StoreApi
let receiver: Receiver
let lanes: ReturnType<typeof startLanes>

beforeEach(async () => {
  till = await startTill()
  api = await startStoreApi(till)
  receiver = await startReceiver()
})
afterEach(async () => {
  await receiver.close()
  await api.app.close()
  await till.close()
})

const PATH = '/v1/webhook-endpoints'
const BODY = { externalId: 'order-1', currency: 'USD', backToStoreUrl: BACK_URL }
const box = createSecretBox(Buffer.alloc(32, 3))

const addEndpoint = async () => (await api.call('POST', PATH, { body: { url: receiver.url } })).json()

let orders = 0

/** Causes an event for the store. */
async function anEvent(): Promise<void> {
  orders += 1
  const { id } = (
    await api.call('POST', '/v1/deposits', { body: { ...BODY, externalId: `e${orders}` } })
  ).json()
  await api.call('POST', `/v1/deposits/${id}/cancel`)
  await publishEvents(till.deps)
}

describe('the registration of a store', () => {
  test.each([
    ['sandbox', 'http://localhost:8080/hook', { host: 'localhost', port: 8_080, inside: true }],
    ['live', 'https://shop.example:8443/', { host: 'shop.example', port: 8_443, inside: false }],
    ['live', 'https://shop.example/', undefined],
  ] as const)(
    'in %s mode with the webhook %s allows the webhook’s address only if that address needs a permission',
    async (mode, webhookUrl, allowed) => {
      const store = { name: 'Ember', origins: ['https://store.example'], riskLimitUsdCents: 0n, webhookUrl }
      expect(await createStore({ ...till.deps, box, mode, webhookMode: mode }, store)).toMatchObject({
        kind: 'created',
      })
      const rows = await till.db.selectFrom('webhook_address').select(['host', 'port', 'inside']).execute()
      expect(rows).toEqual(allowed === undefined ? [] : [allowed])
    },
  )

  test.each([
    ['live', 'http://shop.example/'],
    ['live', 'https://169.254.169.254/'],
    // Webhooks of a sandbox that others reach follow the rules of live mode.
    ['sandbox', 'http://shop.example/'],
  ] as const)(
    'in %s mode with the webhook %s is refused, if webhooks follow the rules of live mode',
    async (mode, url) => {
      const store = {
        name: 'Ember',
        origins: ['https://store.example'],
        riskLimitUsdCents: 0n,
        webhookUrl: url,
      }
      expect(await createStore({ ...till.deps, box, mode, webhookMode: 'live' }, store)).toMatchObject({
        kind: 'refused',
      })
    },
  )
})

test('a store can have as many open deposits as the operator allows, not counting ended and repeated ones', async () => {
  const limited = await startStoreApi(till, {
    change: { createDeposit: (store, body) => createDeposit({ ...till.deps, mostOpen: 2 }, store, body) },
  })
  const open = async (externalId: string) =>
    limited.call('POST', '/v1/deposits', { body: { ...BODY, externalId } })
  const [first, second] = [await open('a'), await open('b')]
  expect([first.statusCode, second.statusCode]).toEqual([201, 201])
  const third = await open('c')
  expect([third.statusCode, third.json().code]).toEqual([429, 'too_many_deposits'])
  expect(Number(third.headers['retry-after'])).toBeGreaterThan(0)
  expect((await open('a')).statusCode).toBe(200)
  await limited.call('POST', `/v1/deposits/${first.json().id}/cancel`)
  expect((await open('c')).statusCode).toBe(201)
  expect((await open('d')).statusCode).toBe(429)
  await limited.app.close()
})

test('a store that reads too many bytes is refused further reads for a moment, but no writes', async () => {
  let nowMs = 0
  const { limitReads, countRead } = createLimits(() => nowMs)
  // Each byte counts as a hundred, so a few short answers reach the limit.
  const countHundredfold = (storeId: bigint, bytes: number) => countRead(storeId, bytes * 100)
  const change = { limitReads, countRead: countHundredfold }
  const limited = await startStoreApi(till, { hasLimits: false, change })
  const metadata = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`note ${n}`, 'ж'.repeat(500)]))
  const open = async (externalId: string) =>
    limited.call('POST', '/v1/deposits', { body: { ...BODY, externalId, metadata } })
  await open('read')
  const read = () => limited.call('GET', '/v1/deposits')
  // Each answer counts as about 2 MB. Five are read at a time, so 32 to 37 succeed before the others are refused.
  const statuses = (await Promise.all(Array.from({ length: 50 }, read))).map(({ statusCode }) => statusCode)
  const answered = statuses.filter((status) => status === 200).length
  expect(answered).toBeGreaterThanOrEqual(30)
  expect(answered).toBeLessThanOrEqual(37)
  expect(statuses.filter((status) => status === 429)).toHaveLength(50 - answered)
  expect(await open('written')).toMatchObject({ statusCode: 201 })
  const { statusCode, headers } = await read()
  expect(statusCode).toBe(429)
  nowMs += Number(headers['retry-after']) * 1_000
  expect(await read()).toMatchObject({ statusCode: 200 })
  await limited.app.close()
})

test('a write beyond the limit of bytes is refused, changes nothing, and succeeds later under the same key', async () => {
  let mostBytes = 1_000
  const limited = await startStoreApi(till, {
    change: { limitBytes: (_storeId, bytes) => void (bytes > mostBytes && refuse('too_many_requests')) },
  })
  const open = (externalId: string, note: string) =>
    limited.call('POST', '/v1/deposits', {
      body: { ...BODY, externalId, metadata: { note } },
      headers: { 'idempotency-key': externalId },
    })
  expect((await open('small', 'x')).statusCode).toBe(201)
  const refused = await open('large', 'д'.repeat(500))
  expect([refused.statusCode, refused.json().code]).toEqual([429, 'too_many_requests'])
  expect((await limited.call('GET', '/v1/deposits')).json().deposits).toHaveLength(1)
  mostBytes = 2_000
  expect((await open('large', 'д'.repeat(500))).statusCode).toBe(201)
  await limited.app.close()
})

describe('in live mode', () => {
  /** Returns a handler that answers with `answer(challenge)`. */
  const echo =
    (answer: (challenge: string) => string, code = 200) =>
    (response: ServerResponse) => {
      const { data } = JSON.parse(receiver.received.at(-1)?.body ?? '')
      response.writeHead(code).end(answer(data.challenge))
    }
  let live: StoreApi
  /** Runs while a call looks up whether an address is allowed. */
  let beforePermission: (() => Promise<void>) | undefined
  beforeEach(async () => {
    beforePermission = undefined
    const inside: FindAllowance = async () => {
      await beforePermission?.()
      return { inside: true }
    }
    const send = createSender({ mode: 'live', findAllowance: inside, deadlineMs: 60_000 })
    live = await startStoreApi(till, { change: { mode: 'live', findAllowance: inside, send } })
  })
  afterEach(() => live.app.close())

  const callEndpoint = async (method: 'GET' | 'POST', path: string, body?: object) => {
    const answer = await live.call(method, `${PATH}${path}`, { body })
    return { status: answer.statusCode, ...answer.json() }
  }
  const create = (url = receiver.url) => callEndpoint('POST', '', { url })

  test('an endpoint receives no events until its answer repeats the challenge', async () => {
    const { id, state, secret } = await create()
    expect(state).toBe('pending')
    await live.call('POST', '/v1/deposits', {
      body: { externalId: 'live', currency: 'USD', backToStoreUrl: BACK_URL },
    })
    const { deposits } = (await live.call('GET', '/v1/deposits')).json()
    await live.call('POST', `/v1/deposits/${deposits[0].id}/cancel`)
    await publishEvents(till.deps)
    expect(await till.db.selectFrom('webhook_delivery').select('id').execute()).toEqual([])
    expect(await callEndpoint('POST', `/${id}/replay`, { fromSequence: 1, toSequence: 1 })).toMatchObject({
      status: 409,
      code: 'endpoint_unproved',
    })
    // These do not prove anything: an empty answer, another text, the mirrored body, or an error status.
    receiver.answers.push(
      status(204),
      echo((challenge) => `${challenge}!`),
    )
    receiver.answers.push((response) => response.end(receiver.received.at(-1)?.body))
    receiver.answers.push(echo((challenge) => challenge, 400))
    for (let n = 0; n < 4; n += 1) {
      expect(await callEndpoint('POST', `/${id}/test`)).toMatchObject({ challengeRepeated: false })
    }
    // Disabling and enabling does not replace the proof.
    await callEndpoint('POST', `/${id}/disable`)
    expect(await callEndpoint('POST', `/${id}/enable`)).toMatchObject({ state: 'pending' })
    receiver.answers.push(echo((challenge) => JSON.stringify({ challenge })))
    expect(await callEndpoint('POST', `/${id}/test`)).toMatchObject({
      delivered: true,
      challengeRepeated: true,
    })
    const { headers = {}, body = '' } = receiver.received.at(-1) ?? {}
    const signed = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
    expect(new Webhook(secret).verify(body, signed)).toMatchObject({ type: 'webhook.test' })
    expect(await callEndpoint('GET', `/${id}`)).toMatchObject({ state: 'enabled' })
    expect(await callEndpoint('POST', `/${id}/replay`, { fromSequence: 1, toSequence: 1 })).toMatchObject({
      replayed: 1,
    })
  })

  test.each([
    // FastAPI and `response.json` of Express write a returned text in quotation marks.
    { what: 'as a JSON text', answer: (challenge: string) => JSON.stringify(challenge), isProof: true },
    {
      what: 'in an answer of more than a kilobyte',
      answer: (challenge: string) => JSON.stringify({ challenge, note: 'x'.repeat(1_024) }),
      isProof: false,
    },
  ])('the challenge $what counts as proof: $isProof', async ({ answer, isProof }) => {
    const { id } = await create()
    receiver.answers.push(echo(answer))
    expect(await callEndpoint('POST', `/${id}/test`)).toMatchObject({ challengeRepeated: isProof })
    expect(await callEndpoint('GET', `/${id}`)).toMatchObject({ state: isProof ? 'enabled' : 'pending' })
  })

  test('a proved endpoint moves only to a URL that repeats the challenge', async () => {
    const { id } = await create()
    receiver.answers.push(echo((challenge) => challenge))
    await callEndpoint('POST', `/${id}/test`)
    const url = `${receiver.url}/new`
    expect(await callEndpoint('POST', `/${id}`, { url })).toMatchObject({
      status: 409,
      code: 'endpoint_unproved',
    })
    expect(await callEndpoint('GET', `/${id}`)).toMatchObject({ url: receiver.url, state: 'enabled' })
    receiver.answers.push(echo((challenge) => challenge))
    expect(await callEndpoint('POST', `/${id}`, { url })).toMatchObject({ url, state: 'enabled' })
    expect(await callEndpoint('POST', `/${id}`, { eventTypes: null })).toMatchObject({ status: 200 })
  })

  test('a proof counts for the URL that gave it, and not for a URL that was set meanwhile', async () => {
    const { id } = await create()
    const url = `${receiver.url}/stranger`
    receiver.answers.push((response) => {
      const { data } = JSON.parse(receiver.received.at(-1)?.body ?? '')
      void callEndpoint('POST', `/${id}`, { url }).then(() => response.end(data.challenge))
    })
    expect(await callEndpoint('POST', `/${id}/test`)).toMatchObject({ challengeRepeated: true })
    expect(await callEndpoint('GET', `/${id}`)).toMatchObject({ url, state: 'pending' })
  })

  test('an endpoint that is proved while a call moves it stays at the proved URL', async () => {
    const { id } = await create()
    // The call has already read that the endpoint is not proved.
    beforePermission = async () => {
      beforePermission = undefined
      receiver.answers.push(echo((challenge) => challenge))
      await callEndpoint('POST', `/${id}/test`)
    }
    expect(await callEndpoint('POST', `/${id}`, { url: `${receiver.url}/stranger` })).toMatchObject({
      status: 409,
      code: 'endpoint_unproved',
    })
    expect(await callEndpoint('GET', `/${id}`)).toMatchObject({ url: receiver.url, state: 'enabled' })
  })

  test('an endpoint set up by the operator needs no proof', async () => {
    const { id } = await create()
    const box = createSecretBox(Buffer.alloc(32, 3))
    const change = { origins: ['https://store.test'], webhookUrl: receiver.url }
    await updateStore({ ...live.deps, webhookMode: 'live', box }, live.store.id, change)
    expect(await callEndpoint('GET', `/${id}`)).toMatchObject({ state: 'enabled' })
  })
})

test('a store can have at most two tests of endpoints under way, independently of other stores', async () => {
  const { id } = await addEndpoint()
  const held: ServerResponse[] = []
  for (let n = 0; n < 3; n += 1) receiver.answers.push((response) => void held.push(response))
  const sendTest = () => api.call('POST', `${PATH}/${id}/test`)
  const two = [sendTest(), sendTest()]
  await expect.poll(() => held.length).toBe(2)
  const third = await sendTest()
  expect([third.statusCode, third.json().code]).toEqual([429, 'too_many_tests'])
  expect(Number(third.headers['retry-after'])).toBeGreaterThan(0)
  const key = await api.newKey(await aStore(till))
  const otherEndpoint = (await api.call('POST', PATH, { key, body: { url: receiver.url } })).json()
  const testOfOther = api.call('POST', `${PATH}/${otherEndpoint.id}/test`, { key })
  await expect.poll(() => held.length).toBe(3)
  for (const response of held) response.writeHead(204).end()
  for (const answer of [...two, testOfOther]) expect((await answer).json()).toMatchObject({ delivered: true })
  expect((await sendTest()).json()).toMatchObject({ delivered: true })
})

describe('replays of a store', () => {
  const start = () => {
    const { send, secretsOf } = api.deps
    lanes = startLanes({ ...till.deps, send, secretsOf, random: () => 0.5 })
  }
  beforeEach(start)
  afterEach(() => lanes.stop())

  /** Waits until no delivery is due, because a received one may not be recorded yet. */
  const allRecorded = () =>
    expect
      .poll(() => till.db.selectFrom('webhook_delivery').select('id').where('state', '=', 'due').execute())
      .toEqual([])

  const replay = async (id: string, body: object) =>
    (await api.call('POST', `${PATH}/${id}/replay`, { body })).json()

  test('of ranges run one at a time, even to different endpoints', async () => {
    const [first, second] = [await addEndpoint(), await addEndpoint()]
    for (let n = 0; n < 3; n += 1) await anEvent()
    await expect.poll(() => receiver.received.length).toBe(6)
    await allRecorded()
    // No sender runs, so the replayed deliveries wait.
    await lanes.stop()
    const range = { fromSequence: 1, toSequence: 3 }
    expect(await replay(first.id, range)).toEqual({ replayed: 3 })
    expect(await replay(second.id, range)).toMatchObject({ code: 'replay_in_progress' })
    expect(await replay(first.id, range)).toMatchObject({ code: 'replay_in_progress' })
    start()
    await expect.poll(() => replay(second.id, range)).toEqual({ replayed: 3 })
  })

  test('are limited to 50,000 deliveries in 24 hours', async () => {
    const { id } = await addEndpoint()
    for (let n = 0; n < 2; n += 1) await anEvent()
    await expect.poll(() => receiver.received.length).toBe(2)
    await allRecorded()
    await lanes.stop()
    const at = till.clock.now()
    await till.db
      .insertInto('webhook_replay')
      .values({ store_id: api.store.id, at, deliveries: 49_999 })
      .execute()
    expect(await replay(id, { fromSequence: 1, toSequence: 2 })).toMatchObject({ code: 'replay_quota' })
    const { eventId } = (await api.call('GET', `${PATH}/${id}/attempts`)).json().attempts[0]
    expect(await replay(id, { eventId })).toEqual({ replayed: 1 })
    expect(await replay(id, { eventId })).toMatchObject({ code: 'replay_quota' })
    till.clock.advance(86_400_000)
    expect(await replay(id, { eventId })).toEqual({ replayed: 1 })
    expect(await till.db.selectFrom('webhook_replay').select('deliveries').execute()).toEqual([
      { deliveries: 1 },
    ])
  })
})

test('at most five calls of a store run at a time: its other calls wait, and other stores’ calls do not', async () => {
  const asked: bigint[] = []
  const release = Promise.withResolvers<void>()
  const listDeposits = async (storeId: bigint) => {
    asked.push(storeId)
    await release.promise
    return { deposits: [], next: null }
  }
  const shared = await startStoreApi(till, { change: { listDeposits } })
  const otherStore = await aStore(till)
  const statusOfList = async (key?: string) =>
    (await shared.call('GET', '/v1/deposits', { ...(key && { key }) })).statusCode
  const ofStore = Array.from({ length: 8 }, () => statusOfList())
  await expect.poll(() => asked.length).toBe(5)
  const ofOther = statusOfList(await shared.newKey(otherStore))
  await expect.poll(() => asked.slice(5)).toEqual([otherStore.id])
  release.resolve()
  expect(await Promise.all([...ofStore, ofOther])).toEqual(Array(9).fill(200))
  await shared.app.close()
})
