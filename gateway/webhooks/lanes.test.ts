import { createServer, type Server, type ServerResponse } from 'node:http'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { EventType } from '../../contract/event-types.ts'
import { publishEvents } from '../events/service.ts'
import { type Receiver, startReceiver, status } from '../testing/receiver.ts'
import { anEndpoint, aStore, startTill, type Till } from '../testing/till.ts'
import { expiredDeposit, senderDeps, workOnWebhooks } from '../testing/webhooks.ts'
import { replay } from './attempts.ts'
import { type LanesDeps, startLanes } from './lanes.ts'
import { claimLane } from './store.ts'

let till: Till
let receiver: Receiver
let stops: (() => Promise<void>)[]

beforeEach(async () => {
  till = await startTill()
  receiver = await startReceiver()
  stops = []
})
afterEach(async () => {
  for (const stop of stops) await stop()
  vi.useRealTimers()
  await receiver.close()
  await till.close()
})

/** With `patienceMs: 1`, an attempt that gets no answer from a quick endpoint soon counts as hanging. */
function startSending(change: Partial<LanesDeps> = {}) {
  const lanes = startLanes({ ...senderDeps(till), ...change })
  stops.push(() => lanes.stop())
}

/** Publishes `count` events of one new deposit. Resolves to their ids. */
async function publish(store: { id: bigint }, count: number): Promise<string[]> {
  await expiredDeposit(till, store)
  await sql`
    insert into event (id, store_id, deposit_id, part, type, payload, created_at)
    select gen_random_uuid(), store_id, deposit_id, nth, type, payload, created_at
    from (select * from event order by inserted desc limit 1) newest, generate_series(1, ${count - 1}::int) nth`.execute(
    till.db,
  )
  await publishEvents(till.deps)
  const rows = await till.db
    .selectFrom('event')
    .select('id')
    .orderBy('inserted', 'desc')
    .limit(count)
    .execute()
  return rows.map(({ id }) => id)
}

/** Publishes `count` events while no endpoint wants their type. Resolves to their ids. */
async function publishUnsent(store: { id: bigint }, count: number): Promise<string[]> {
  const want = (types: EventType[] | null) =>
    till.db.updateTable('webhook_endpoint').set({ event_types: types }).execute()
  await want(['deposit.pending'])
  const ids = await publish(store, count)
  await want(null)
  return ids
}

/** Starts the server, which runs until the test ends. Resolves to its address. */
async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.push(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return `http://127.0.0.1:${port}/`
}

/** Starts a server that accepts every call and never answers. */
async function aSilentServer(): Promise<{ url: string; taken: ServerResponse[] }> {
  const taken: ServerResponse[] = []
  const server = createServer((_request, response) => void taken.push(response))
  return { url: await listen(server), taken }
}

/** Starts a server that answers all calls except those with `unanswered` events. */
async function aServerThatHangsOn(unanswered: Set<string>): Promise<{ url: string; taken: string[] }> {
  const taken: string[] = []
  const server = createServer((request, response) => {
    const id = String(request.headers['webhook-id'])
    taken.push(id)
    if (!unanswered.has(id)) response.writeHead(204).end()
  })
  return { url: await listen(server), taken }
}

/** Records a past success that took this long, at the endpoint of the oldest delivery. */
async function recordSuccess(durationMs: number): Promise<void> {
  const { id, endpoint_id } = await till.db
    .selectFrom('webhook_delivery')
    .select(['id', 'endpoint_id'])
    .orderBy('id')
    .limit(1)
    .executeTakeFirstOrThrow()
  const about = { delivery_id: id, endpoint_id, attempt: 1, at: till.clock.now(), duration_ms: durationMs }
  await till.db
    .insertInto('webhook_attempt')
    .values({ ...about, status: 204, failure: null, answer: '' })
    .execute()
}

describe('a store that is slow with everything', () => {
  it('gets at most eight first attempts and four retries at a time, even from lanes that have just started', async () => {
    const silent = await aSilentServer()
    await publish(await aStore(till, { webhookUrl: silent.url }), 30)
    await recordSuccess(60_000)
    // As if the later half of the events had failed once.
    const later = till.db.selectFrom('event').select('id').where('sequence', '>', 15n)
    await till.db
      .updateTable('webhook_delivery')
      .set({ claim: 1n, attempts: 1 })
      .where('event_id', 'in', later)
      .execute()
    startSending({ patienceMs: 1 })
    await expect.poll(() => silent.taken.length).toBe(8 + 4)
    await publish(await aStore(till, { webhookUrl: receiver.url }), 1)
    await expect.poll(() => receiver.received.length).toBe(1)
    expect(silent.taken).toHaveLength(8 + 4)
  })

  it('counts as quick again, for retries too, once its first attempts are quick', async () => {
    const unanswered = new Set<string>()
    const server = await aServerThatHangsOn(unanswered)
    const store = await aStore(till, { webhookUrl: server.url })
    const { id } = await till.db.selectFrom('webhook_endpoint').select('id').executeTakeFirstOrThrow()
    // The attempt at this event hangs, which keeps the same lanes running throughout the test.
    for (const hanging of await publish(store, 1)) unanswered.add(hanging)
    await recordSuccess(60_000)
    startSending({ patienceMs: 1 })
    await expect.poll(() => server.taken.length).toBe(1)
    await publish(store, 24)
    const delivered = () =>
      till.db.selectFrom('webhook_delivery').select('id').where('state', '=', 'delivered').execute()
    await expect.poll(async () => (await delivered()).length).toBe(24)
    for (const replayed of await publishUnsent(store, 12)) unanswered.add(replayed)
    await replay(till.deps, store.id, { id, body: { fromSequence: 26, toSequence: 37 } })
    await expect.poll(() => server.taken.length).toBe(1 + 24 + 12)
  })
})

describe('the deliveries of one endpoint', () => {
  it('are sent immediately even if twenty others hang', async () => {
    const unanswered = new Set<string>()
    const server = await aServerThatHangsOn(unanswered)
    const store = await aStore(till, { webhookUrl: server.url })
    for (const id of await publish(store, 20)) unanswered.add(id)
    startSending()
    await expect.poll(() => server.taken.length).toBe(20)
    const [newId = ''] = await publish(store, 1)
    await expect.poll(() => server.taken).toContain(newId)
    expect(server.taken).toHaveLength(21)
  })

  it('get their first attempt immediately, even if sixteen retries hang', async () => {
    const unanswered = new Set<string>()
    const server = await aServerThatHangsOn(unanswered)
    const store = await aStore(till, { webhookUrl: server.url })
    for (const id of await publish(store, 70)) unanswered.add(id)
    // As if each had failed once.
    await till.db.updateTable('webhook_delivery').set({ claim: 1n, attempts: 1 }).execute()
    startSending({ patienceMs: 1 })
    await expect.poll(() => server.taken.length).toBe(16)
    const [newId = ''] = await publish(store, 1)
    await expect.poll(() => server.taken).toContain(newId)
    expect(server.taken).toHaveLength(17)
  })

  it('are not delayed by replays of older events', async () => {
    const store = await aStore(till, { webhookUrl: receiver.url })
    const { id } = await till.db.selectFrom('webhook_endpoint').select('id').executeTakeFirstOrThrow()
    await publishUnsent(store, 12)
    // These events were never sent before, but replays belong to the lane of retries.
    await replay(till.deps, store.id, { id, body: { fromSequence: 1, toSequence: 12 } })
    await publish(store, 1)
    const firsts = await claimLane(till.deps, { endpointId: id, lane: 'first' }, 20)
    expect(firsts.map(({ sequence }) => sequence)).toEqual([13n])
    expect(await claimLane(till.deps, { endpointId: id, lane: 'again' }, 20)).toHaveLength(12)
  })

  it('get their first retries on time, even while replays of older events wait', async () => {
    const store = await aStore(till, { webhookUrl: receiver.url })
    const { id } = await till.db.selectFrom('webhook_endpoint').select('id').executeTakeFirstOrThrow()
    await publishUnsent(store, 12)
    await replay(till.deps, store.id, { id, body: { fromSequence: 1, toSequence: 12 } })
    await publish(store, 4)
    // Event 13 was never attempted. As if 14 had failed once, 15 three times, and 16 four times.
    for (const [sequence, attempts] of [
      [14n, 1],
      [15n, 3],
      [16n, 4],
    ] as const)
      await till.db
        .updateTable('webhook_delivery')
        .set({ claim: 1n, attempts })
        .where('event_id', 'in', till.db.selectFrom('event').select('id').where('sequence', '=', sequence))
        .execute()
    const claims = await claimLane(till.deps, { endpointId: id, lane: 'again' }, 4)
    expect(new Set(claims.map(({ sequence }) => sequence))).toEqual(new Set([1n, 2n, 14n, 15n]))
  })

  it('have at most 64 hanging first attempts at a time, and another endpoint is served meanwhile', async () => {
    const silent = await aSilentServer()
    const slow = await aStore(till, { webhookUrl: silent.url })
    await publish(slow, 70)
    startSending({ patienceMs: 1 })
    await expect.poll(() => silent.taken.length).toBe(64)
    await publish(await aStore(till, { webhookUrl: receiver.url }), 1)
    await expect.poll(() => receiver.received.length).toBe(1)
    expect(silent.taken).toHaveLength(64)
  })
})

describe('lanes', () => {
  it('do not wait for each other: forty silent endpoints do not delay a delivery to another endpoint', async () => {
    const silent = await aSilentServer()
    const slow = await aStore(till)
    for (let n = 0; n < 40; n += 1) await anEndpoint(till, slow, silent.url)
    for (let n = 0; n < 10; n += 1) await expiredDeposit(till, slow)
    // No attempt counts as hanging, so the lanes stay full.
    startSending({ patienceMs: 60_000 })
    await publishEvents(till.deps)
    // All endpoints belong to one store, so each lane has the least width: 2 places.
    await expect.poll(() => silent.taken.length).toBe(40 * 2)
    await expiredDeposit(till, await aStore(till, { webhookUrl: receiver.url }))
    await publishEvents(till.deps)
    await expect.poll(() => receiver.received.length).toBe(1)
    expect(silent.taken.length).toBe(40 * 2)
  })

  it('do not delay an event of a deposit when events of other deposits fail', async () => {
    const store = await aStore(till, { webhookUrl: receiver.url })
    receiver.answers.push(status(500), status(500), status(500))
    for (let n = 0; n < 3; n += 1) await expiredDeposit(till, store)
    startSending()
    await publishEvents(till.deps)
    await expect.poll(() => receiver.received.length).toBe(3)
    await expiredDeposit(till, store)
    await publishEvents(till.deps)
    await expect.poll(() => receiver.received.length).toBe(4)
    const rows = await till.db
      .selectFrom('webhook_delivery')
      .select(['state', 'attempts'])
      .orderBy('id')
      .execute()
    expect(rows.map((row) => `${row.state} ${row.attempts}`).slice(0, 3)).toEqual(Array(3).fill('due 1'))
  })

  it('send an event right after its commit, without waiting for a poll', async () => {
    const store = await aStore(till, { webhookUrl: receiver.url })
    // From here on, no timer of the queue or the lanes fires.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    stops.push(await workOnWebhooks(senderDeps(till)))
    for (let n = 1; n <= 20; n += 1) {
      // Not `expect.poll`, which advances fake time.
      const arrived = Promise.withResolvers<void>()
      receiver.answers.push((response) => {
        status(204)(response)
        arrived.resolve()
      })
      await expiredDeposit(till, store)
      await arrived.promise
      expect(receiver.received).toHaveLength(n)
    }
  })

  it('of two processes send each event once', async () => {
    const store = await aStore(till, { webhookUrl: receiver.url })
    for (let n = 0; n < 30; n += 1) await expiredDeposit(till, store)
    startSending()
    startSending()
    await publishEvents(till.deps)
    const left = () =>
      till.db.selectFrom('webhook_delivery').select('id').where('state', '=', 'due').execute()
    await expect.poll(left).toEqual([])
    expect(receiver.received).toHaveLength(30)
  })

  it('of two processes have their own places', async () => {
    const silent = await aSilentServer()
    await publish(await aStore(till, { webhookUrl: silent.url }), 30)
    await recordSuccess(60_000)
    startSending()
    startSending()
    await expect.poll(() => silent.taken.length).toBe(2 * 8)
  })

  it('of an ended process leave their attempts to the next process, which sends them immediately', async () => {
    const silent = await aSilentServer()
    const store = await aStore(till, { webhookUrl: silent.url })
    await expiredDeposit(till, store)
    startSending()
    await publishEvents(till.deps)
    await expect.poll(() => silent.taken.length).toBe(1)
    await stops.pop()?.()
    await till.db.updateTable('webhook_endpoint').set({ url: receiver.url }).execute()
    startSending()
    await expect.poll(() => receiver.received.length).toBe(1)
  })
})
