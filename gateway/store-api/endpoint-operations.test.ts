import { sql } from 'kysely'
import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { publishEvents } from '../events/service.ts'
import { type Receiver, startReceiver, status } from '../testing/receiver.ts'
import { BACK_URL, type StoreApi, startStoreApi } from '../testing/store-api.ts'
import { aStore, startTill, type Till } from '../testing/till.ts'
import { allowAddress, allowanceFinder } from '../webhooks/address-store.ts'
import { startLanes } from '../webhooks/lanes.ts'
import { nextWaitMs } from '../webhooks/schedule.ts'

let till: Till
let api: StoreApi
let receiver: Receiver
let lanes: ReturnType<typeof startLanes>

beforeEach(async () => {
  till = await startTill()
  api = await startStoreApi(till)
  receiver = await startReceiver()
  const { send, secretsOf } = api.deps
  lanes = startLanes({ ...till.deps, send, secretsOf, random: () => 0.5 })
})
afterEach(async () => {
  await lanes.stop()
  await receiver.close()
  await api.app.close()
  await till.close()
})

const PATH = '/v1/webhook-endpoints'

const add = async (body: object = { url: receiver.url }) => {
  const answer = await api.call('POST', PATH, { body })
  return { status: answer.statusCode, ...answer.json() }
}

let orders = 0

/** Causes an event for the store. */
async function anEvent(): Promise<void> {
  orders += 1
  const body = { externalId: `e${orders}`, currency: 'USD', backToStoreUrl: BACK_URL }
  const { id } = (await api.call('POST', '/v1/deposits', { body })).json()
  await api.call('POST', `/v1/deposits/${id}/cancel`)
  await publishEvents(till.deps)
}

/** Returns the latest webhook. Throws unless this secret signed it. */
const verifyLatest = (secret: string) => {
  const latest = receiver.received.at(-1)
  const headers = Object.fromEntries(
    Object.entries(latest?.headers ?? {}).map(([name, value]) => [name, String(value)]),
  )
  return new Webhook(secret).verify(latest?.body ?? '', headers)
}

describe('an endpoint', () => {
  test('that is unknown is refused with a text for developers, and an unknown event in a replay too', async () => {
    const { id } = await add()
    const eventId = crypto.randomUUID()
    const answers = [
      [await api.call('GET', `${PATH}/77`), 'id 77'],
      [await api.call('POST', `${PATH}/${id}/replay`, { body: { eventId } }), `eventId ${eventId}`],
    ] as const
    for (const [answer, asked] of answers) {
      expect(answer.json()).toMatchObject({ status: 404, code: 'not_found' })
      expect(answer.json().detail).toContain(`no webhook endpoint or event with ${asked}. Check this value`)
    }
  })

  test('receives events, signed with the secret that was shown once', async () => {
    const { status: code, secret, ...endpoint } = await add()
    expect([code, endpoint.state]).toEqual([201, 'enabled'])
    expect(secret).toMatch(/^whsec_/)
    const { endpoints } = (await api.call('GET', PATH)).json()
    expect(endpoints).toEqual([endpoint])
    expect((await api.call('GET', `${PATH}/${endpoint.id}`)).json()).toEqual(endpoint)
    await anEvent()
    await expect.poll(() => receiver.received.length).toBe(1)
    expect(verifyLatest(secret)).toMatchObject({ type: 'deposit.payment_timeout', sequence: 1 })
  })

  test('that is disabled receives nothing until it is enabled', async () => {
    const { id } = await add()
    expect((await api.call('POST', `${PATH}/${id}/disable`)).json()).toMatchObject({
      state: 'disabled',
      disabledReason: 'by_store',
    })
    await anEvent()
    expect((await api.call('POST', `${PATH}/${id}/test`)).json().code).toBe('endpoint_disabled')
    await api.call('POST', `${PATH}/${id}/enable`)
    await anEvent()
    await expect.poll(() => receiver.received.length).toBe(1)
    expect(JSON.parse(receiver.received[0]?.body ?? '').sequence).toBe(2)
  })

  test('receives webhooks signed with both secrets during a rotation', async () => {
    const { id, secret } = await add()
    const rotated = (
      await api.call('POST', `${PATH}/${id}/rotate-secret`, { body: { overlapHours: 1 } })
    ).json()
    expect(rotated.secret).not.toBe(secret)
    await anEvent()
    await expect.poll(() => receiver.received.length).toBe(1)
    for (const known of [secret, rotated.secret]) expect(verifyLatest(known)).toMatchObject({ sequence: 1 })
    till.clock.advance(3_600_000)
    await api.call('POST', `${PATH}/${id}/test`)
    const signatures = receiver.received[1]?.headers['webhook-signature']
    expect(String(signatures).split(' ')).toHaveLength(1)
    expect((await api.call('POST', `${PATH}/${id}/rotate-secret`)).statusCode).toBe(200)
  })

  test('can be tested, and the call returns the endpoint’s answer', async () => {
    const { id } = await add()
    receiver.answers.push((response) => response.writeHead(418).end('a teapot'))
    expect((await api.call('POST', `${PATH}/${id}/test`)).json()).toMatchObject({
      delivered: false,
      status: 418,
      answer: 'a teapot',
    })
    expect(JSON.parse(receiver.received[0]?.body ?? '')).toMatchObject({ type: 'webhook.test' })
    expect((await api.call('POST', `${PATH}/${id}/test`)).json()).toMatchObject({
      delivered: true,
      status: 204,
    })
  })

  test('lists every attempt, and can get one event or a range of events again', async () => {
    const { id } = await add()
    receiver.answers.push(status(500))
    await anEvent()
    await anEvent()
    const attempts = async () => (await api.call('GET', `${PATH}/${id}/attempts`)).json().attempts
    await expect.poll(async () => (await attempts()).length).toBe(2)
    const shown = await attempts()
    expect(shown.map(({ sequence }: { sequence: number }) => sequence).sort()).toEqual([1, 2])
    expect(shown.map((attempt: { status: number }) => attempt.status).sort()).toEqual([204, 500])
    const page = (await api.call('GET', `${PATH}/${id}/attempts?limit=1`)).json()
    const rest = (await api.call('GET', `${PATH}/${id}/attempts?after=${page.next}`)).json()
    expect([page.attempts[0].id, rest.attempts[0].id, rest.next]).toEqual([shown[0].id, shown[1].id, null])
    const replay = (body: object) => api.call('POST', `${PATH}/${id}/replay`, { body })
    expect((await replay({ fromSequence: 1, toSequence: 9 })).json()).toEqual({ replayed: 2 })
    await expect.poll(() => receiver.received.length).toBe(4)
    expect((await replay({ eventId: shown[0].eventId })).json()).toEqual({ replayed: 1 })
    await expect.poll(() => receiver.received.length).toBe(5)
    expect((await replay({ eventId: crypto.randomUUID() })).statusCode).toBe(404)
    expect((await replay({ fromSequence: 2, toSequence: 1 })).statusCode).toBe(400)
    expect((await replay({})).json().errors).toEqual([
      { path: '', message: 'must be { eventId } or { fromSequence, toSequence }' },
    ])
  })

  test('can get a range again whose numbers span those that a restore skipped, but not 10,001 events', async () => {
    const { id } = await add()
    await anEvent()
    await till.db.updateTable('store').set({ last_sequence: 1_052_202_004n }).execute()
    await anEvent()
    const range = { fromSequence: 1, toSequence: 1_052_202_005 }
    const replay = () => api.call('POST', `${PATH}/${id}/replay`, { body: range })
    await expect.poll(() => receiver.received.length).toBe(2)
    await expect.poll(async () => (await replay()).json()).toEqual({ replayed: 2 })
    await expect.poll(() => receiver.received.length).toBe(4)
    await till.db.updateTable('webhook_delivery').set({ state: 'delivered', due_at: null }).execute()
    // Of a type that no endpoint gets: the limit counts the events of the log.
    await sql`
      insert into event (id, store_id, part, type, payload, sequence)
      select gen_random_uuid(), ${api.store.id}, n, 'epoch.started', '{}', n from generate_series(3, 10001) n`.execute(
      till.db,
    )
    await till.db
      .updateTable('webhook_endpoint')
      .set({ event_types: ['deposit.succeeded'] })
      .execute()
    expect((await replay()).json()).toMatchObject({
      code: 'invalid_request',
      errors: [{ path: 'toSequence', message: 'must be smaller: the range has more than 10000 events' }],
    })
  })

  test('gets only events of its types from a replayed range, but a single event of any type', async () => {
    await add()
    await anEvent()
    await expect.poll(() => receiver.received.length).toBe(1)
    const { id } = await add({ url: receiver.url, eventTypes: ['deposit.succeeded'] })
    const replay = async (body: object) =>
      (await api.call('POST', `${PATH}/${id}/replay`, { body })).json().replayed
    expect(await replay({ fromSequence: 1, toSequence: 9 })).toBe(0)
    expect(await replay({ eventId: JSON.parse(receiver.received[0]?.body ?? '').id })).toBe(1)
    await expect.poll(() => receiver.received.length).toBe(2)
  })

  test.each(['ftp://store.test', 'https://user@store.test/', 'store', 'http://a b/', 'https://10.0.0.1/'])(
    'cannot be at %s',
    async (url) => {
      expect(await add({ url })).toMatchObject({ status: 400, errors: [{ path: 'url' }] })
      const { id } = await add()
      const moved = await api.call('POST', `${PATH}/${id}`, { body: { url } })
      expect([moved.statusCode, moved.json().errors[0].path]).toEqual([400, 'url'])
    },
  )

  test('is refused at an address that the operator must allow, with the command to allow it', async () => {
    const strict = await startStoreApi(till, { change: { findAllowance: allowanceFinder(till.db) } })
    const send = () => strict.call('POST', PATH, { body: { url: 'http://localhost:8081/hook' } })
    const toAllow = `store allow-address --store ${strict.store.id} --address localhost:8081 --inside`
    expect((await send()).json().errors[0].message).toContain(toAllow)
    const address = { host: 'localhost', port: 8_081 }
    await till.db.transaction().execute(async (tx) => {
      await allowAddress(tx, { storeId: strict.store.id, address, inside: true, now: till.clock.now() })
    })
    expect((await send()).statusCode).toBe(201)
    await strict.app.close()
  })

  test('that is removed receives nothing, is unknown, and makes room for another endpoint', async () => {
    const ids = await Promise.all(Array.from({ length: 10 }, async () => (await add()).id))
    await api.call('POST', `${PATH}/${ids[0]}/disable`)
    expect(await add()).toMatchObject({ status: 409, code: 'too_many_endpoints' })
    await lanes.stop()
    await anEvent()
    for (const id of ids.slice(0, 2)) {
      const removed = await api.call('DELETE', `${PATH}/${id}`)
      expect([removed.statusCode, removed.json()]).toEqual([200, { id, removed: true }])
      for (const path of ['', '/attempts']) {
        expect((await api.call('GET', `${PATH}/${id}${path}`)).statusCode).toBe(404)
      }
      expect((await api.call('POST', `${PATH}/${id}/enable`)).statusCode).toBe(404)
      expect((await api.call('DELETE', `${PATH}/${id}`)).statusCode).toBe(404)
    }
    const due = till.db.selectFrom('webhook_delivery').select('endpoint_id').where('state', '=', 'due')
    expect((await due.execute()).map((row) => String(row.endpoint_id)).sort()).toEqual(ids.slice(2).sort())
    // The endpoint without deliveries is deleted. The row of the other one stays, without its secret.
    const rowsLeft = till.db
      .selectFrom('webhook_endpoint')
      .select('secret')
      .where('id', 'in', ids.slice(0, 2).map(BigInt))
    expect(await rowsLeft.execute()).toEqual([{ secret: Buffer.alloc(0) }])
    expect(await add()).toMatchObject({ status: 201 })
    expect((await api.call('GET', PATH)).json().endpoints).toHaveLength(9)
  })

  test('gets waiting deliveries at its new URL, and then events of its new types only', async () => {
    const { id, secret: _, status: __, ...endpoint } = await add({ url: 'http://127.0.0.1:9/' })
    await anEvent()
    const attempts = async () => (await api.call('GET', `${PATH}/${id}/attempts`)).json().attempts
    await expect.poll(attempts).toHaveLength(1)
    const change = (body: object) => api.call('POST', `${PATH}/${id}`, { body })
    const moved = await change({ url: receiver.url })
    expect(moved.json()).toEqual({ id, ...endpoint, url: receiver.url })
    till.clock.advance(nextWaitMs({ attempts: 1 }, 1) ?? 0)
    await expect.poll(() => receiver.received.length).toBe(1)
    expect((await change({ eventTypes: ['deposit.succeeded'] })).json()).toMatchObject({
      url: receiver.url,
      eventTypes: ['deposit.succeeded'],
    })
    await anEvent()
    expect((await change({ eventTypes: null })).json().eventTypes).toBeNull()
    await anEvent()
    await expect.poll(() => receiver.received.length).toBe(2)
    expect(receiver.received.map(({ body }) => JSON.parse(body).sequence)).toEqual([1, 3])
    expect((await change({})).json().errors[0].message).toBe('must name a url, eventTypes or both')
  })

  test('cannot be the eleventh of a store, even if many are added at the same time', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, () => add()))
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(10)
    expect(answers.find((answer) => answer.status === 409)).toMatchObject({ code: 'too_many_endpoints' })
  })

  test('of another store is treated as unknown by every call', async () => {
    const { id } = await add()
    const key = await api.newKey(await aStore(till))
    // Each refusal contains the id that was asked for, and is otherwise the same.
    const asForId = (body: string): string => body.replace('with id 999.', `with id ${id}.`)
    const calls = [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/enable'],
      ['POST', '/disable'],
      ['POST', '/rotate-secret'],
      ['POST', '/test'],
      ['GET', '/attempts'],
    ] as const
    for (const [method, path] of calls) {
      const foreign = await api.call(method, `${PATH}/${id}${path}`, { key })
      const unknown = await api.call(method, `${PATH}/999${path}`, { key })
      expect([foreign.statusCode, foreign.body]).toEqual([404, asForId(unknown.body)])
    }
    const callsWithBody: [path: string, body: object][] = [
      ['', { url: receiver.url }],
      ['/replay', { fromSequence: 1, toSequence: 1 }],
    ]
    for (const [path, body] of callsWithBody) {
      const foreign = await api.call('POST', `${PATH}/${id}${path}`, { key, body })
      const unknown = await api.call('POST', `${PATH}/999${path}`, { key, body })
      expect([foreign.statusCode, foreign.body]).toEqual([404, asForId(unknown.body)])
    }
  })
})
