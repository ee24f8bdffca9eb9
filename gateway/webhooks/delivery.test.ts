import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { webhookSchema } from '../../contract/webhooks.ts'
import { publishEvents } from '../events/service.ts'
import { readEvents } from '../events/store.ts'
import { createSecretBox, type SecretBox } from '../kit/secret-box.ts'
import { type Receiver, startReceiver, status } from '../testing/receiver.ts'
import { anEndpoint, aStore, startTill, type Till } from '../testing/till.ts'
import { claimDue, expiredDeposit, SECRET, sendDue, senderDeps, workOnWebhooks } from '../testing/webhooks.ts'
import { attemptDelivery, type DeliveryDeps } from './delivery.ts'
import { ATTEMPTS, nextWaitMs } from './schedule.ts'

/** In these tests, the waits before retries are not varied. */
const FIRST_WAIT_MS = nextWaitMs({ attempts: 1 }, 0.5) ?? 0

const HOUR_MS = 3_600_000

let till: Till
let receiver: Receiver
let store: { id: bigint }
let deps: ReturnType<typeof senderDeps>

beforeEach(async () => {
  till = await startTill()
  receiver = await startReceiver()
  store = await aStore(till, { webhookUrl: receiver.url })
  deps = {
    ...senderDeps(till),
    secretsOf: ({ secret }) => [secret.toString() === 'sealed' ? SECRET : 'wrong'],
  }
})
afterEach(async () => {
  await receiver.close()
  await till.close()
})

/** Creates an event by letting a new deposit expire. */
const expireDeposit = () => expiredDeposit(till, store)

const delivery = () =>
  till.db.selectFrom('webhook_delivery').selectAll().orderBy('id').executeTakeFirstOrThrow()

/** Sends the due deliveries of the first delivery's endpoint. */
async function deliver(using: DeliveryDeps = deps): Promise<void> {
  const { endpoint_id: endpointId } = await delivery()
  await sendDue(using, endpointId)
}

const attempts = () => till.db.selectFrom('webhook_attempt').selectAll().orderBy('id').execute()

describe('a webhook', () => {
  it('reports the deposit’s new status with its sequence, signed as Standard Webhooks requires', async () => {
    const id = await expireDeposit()
    await publishEvents(deps)
    await deliver()
    const [got] = receiver.received
    if (got === undefined) throw new Error('the store received nothing')
    const headers = {
      'webhook-id': String(got.headers['webhook-id']),
      'webhook-timestamp': String(got.headers['webhook-timestamp']),
      'webhook-signature': String(got.headers['webhook-signature']),
    }
    const body = webhookSchema.parse(new Webhook(SECRET).verify(got.body, headers))
    expect(body).toMatchObject({
      type: 'deposit.payment_timeout',
      sequence: 1,
      data: { id: String(id), status: 'paymentTimeout', amount: null },
    })
    expect(() => new Webhook(SECRET).verify(`${got.body} `, headers)).toThrow()
    expect(headers['webhook-id']).toBe((await delivery()).event_id)
    expect((await delivery()).state).toBe('delivered')
  })

  it('D-40 is signed with the machine’s time, and retried by the advanced clock', async () => {
    till.clock.jump(8 * 24 * HOUR_MS)
    const date = new Date(till.clock.machineNow().getTime() + HOUR_MS)
    receiver.answers.push(status(503, { 'retry-after': date.toUTCString() }))
    await expireDeposit()
    await publishEvents(deps)
    await deliver()
    const [got] = receiver.received
    const at = Number(got?.headers['webhook-timestamp'])
    expect(at).toBe(Math.floor(till.clock.machineNow().getTime() / 1_000))
    // `Retry-After` has the machine's time, without milliseconds.
    const due = till.clock.tillTime(new Date(date.toUTCString()))
    expect((await delivery()).due_at).toEqual(due)
    const inMs = due.getTime() - till.clock.now().getTime()
    expect([inMs > HOUR_MS - 1_001, inMs <= HOUR_MS]).toEqual([true, true])
    till.clock.jump(HOUR_MS)
    await deliver()
    expect(await delivery()).toMatchObject({ state: 'delivered' })
  })

  it('is retried with the same id until the store accepts it', async () => {
    receiver.answers.push(status(500), status(302, { location: receiver.url }))
    await expireDeposit()
    await publishEvents(deps)
    const { event_id: eventId } = await delivery()
    await deliver()
    await deliver()
    expect(receiver.received).toHaveLength(1)
    expect(await delivery()).toMatchObject({ state: 'due', attempts: 1, last_result: 'status 500' })
    till.clock.advance(FIRST_WAIT_MS)
    await deliver()
    expect(await delivery()).toMatchObject({ state: 'due', attempts: 2, last_result: 'status 302' })
    till.clock.advance(nextWaitMs({ attempts: 2 }, 1) ?? 0)
    await deliver()
    expect(await delivery()).toMatchObject({ state: 'delivered', attempts: 3, due_at: null })
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([eventId]))
  })

  it('whose secret cannot be decrypted fails with an error in the log, and is retried', async () => {
    const ours = createSecretBox(Buffer.alloc(32, 1))
    const foreign = createSecretBox(Buffer.alloc(32, 2))
    await till.db
      .updateTable('webhook_endpoint')
      .set({ secret: ours.seal(SECRET, 'place') })
      .execute()
    const withKey = (box: SecretBox): DeliveryDeps => ({
      ...deps,
      secretsOf: ({ secret }) => [box.open(secret, 'place')],
    })
    await expireDeposit()
    await publishEvents(deps)
    await deliver(withKey(foreign))
    expect(receiver.received).toEqual([])
    const reason = 'the webhook secret of the endpoint could not be decrypted'
    expect(await delivery()).toMatchObject({ state: 'due', attempts: 1, last_result: reason })
    expect((await delivery()).due_at?.getTime()).toBe(till.clock.now().getTime() + FIRST_WAIT_MS)
    expect(till.lines.filter((line) => line.includes('"error"')).join('')).toContain('check the master key')
    till.clock.advance(FIRST_WAIT_MS)
    await deliver(withKey(ours))
    expect(await delivery()).toMatchObject({ state: 'delivered', attempts: 2 })
    expect(receiver.received).toHaveLength(1)
  })

  it('is given up after a 410, with an error in the log, and its endpoint gets nothing more', async () => {
    receiver.answers.push(status(410))
    await expireDeposit()
    await expireDeposit()
    await publishEvents(deps)
    const { endpoint_id: endpointId } = await delivery()
    const [claim] = await claimDue(deps, endpointId, 1)
    if (claim === undefined) throw new Error('nothing is due')
    await attemptDelivery(deps, claim)
    const rows = await till.db.selectFrom('webhook_delivery').select(['state', 'last_result']).execute()
    expect(rows.map((row) => row.state)).toEqual(['failed', 'failed'])
    expect(rows.map((row) => row.last_result).sort()).toEqual(['status 410', 'the endpoint was disabled'])
    expect(till.lines.filter((line) => line.includes('"error"')).join('')).toContain('webhook was given up')
    await expireDeposit()
    await publishEvents(deps)
    expect(await till.db.selectFrom('webhook_delivery').select('id').execute()).toHaveLength(2)
    const { events } = await readEvents(till.db, store.id, { after: 0, limit: 10 })
    expect(events.map((event) => event.sequence)).toEqual([1, 2, 3])
  })

  it('is due again at the time that the endpoint asks for', async () => {
    receiver.answers.push(status(503, { 'retry-after': '120' }))
    await expireDeposit()
    await publishEvents(deps)
    await deliver()
    expect((await delivery()).due_at?.getTime()).toBe(till.clock.now().getTime() + 120_000)
  })

  it('has a record of every attempt, with its time, duration and answer', async () => {
    // PostgreSQL rejects the NUL in this answer.
    receiver.answers.push((response) => response.writeHead(500).end('out of\0 paper'))
    const firstAt = till.clock.now()
    const duration_ms = expect.any(Number)
    await expireDeposit()
    await publishEvents(deps)
    await deliver()
    till.clock.advance(FIRST_WAIT_MS)
    await deliver()
    expect(await attempts()).toMatchObject([
      { attempt: 1, at: firstAt, duration_ms, status: 500, failure: null, answer: 'out of paper' },
      { attempt: 2, at: till.clock.now(), duration_ms, status: 204, failure: null, answer: '' },
    ])
  })

  it('has a signature with each secret during a rotation', async () => {
    const newSecret = `whsec_${Buffer.alloc(24, 8).toString('base64')}`
    await expireDeposit()
    await publishEvents(deps)
    await deliver({ ...deps, secretsOf: () => [newSecret, SECRET] })
    const [got] = receiver.received
    const headers = Object.fromEntries(
      ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [
        name,
        String(got?.headers[name]),
      ]),
    )
    for (const secret of [newSecret, SECRET]) new Webhook(secret).verify(got?.body ?? '', headers)
    expect(headers['webhook-signature']?.split(' ')).toHaveLength(2)
  })

  it('goes to every endpoint that subscribes to its type', async () => {
    await anEndpoint(till, store, receiver.url, ['deposit.succeeded'])
    const third = await anEndpoint(till, store, receiver.url, ['deposit.payment_timeout'])
    await expireDeposit()
    await publishEvents(deps)
    const rows = await till.db
      .selectFrom('webhook_delivery')
      .select('endpoint_id')
      .orderBy('endpoint_id')
      .execute()
    expect(rows.map((row) => row.endpoint_id)).toEqual([1n, third.id])
  })

  it('is given up after the last attempt', async () => {
    await expireDeposit()
    await publishEvents(deps)
    await receiver.close()
    for (let turn = 1; turn <= ATTEMPTS; turn += 1) {
      await deliver()
      till.clock.advance(24 * HOUR_MS)
    }
    expect(await delivery()).toMatchObject({
      state: 'failed',
      attempts: ATTEMPTS,
      last_result: 'ECONNREFUSED',
    })
    receiver = await startReceiver()
  })

  it('is sent once if many workers wake at the same time', async () => {
    await expireDeposit()
    await publishEvents(deps)
    await Promise.all(Array.from({ length: 10 }, () => deliver()))
    expect(receiver.received).toHaveLength(1)
  })

  it('of a killed sender is sent by another sender after the claim has ended', async () => {
    await expireDeposit()
    await publishEvents(deps)
    const killed: DeliveryDeps = { ...deps, send: () => Promise.reject(new Error('killed')) }
    await expect(deliver(killed)).rejects.toThrow('killed')
    await deliver()
    expect(receiver.received).toEqual([])
    till.clock.advance(60_000)
    const stop = await workOnWebhooks(deps)
    await expect.poll(async () => (await delivery()).state).toBe('delivered')
    expect(receiver.received).toHaveLength(1)
    await stop()
  })

  it('reaches the store automatically after the deposit’s status has changed', async () => {
    const stop = await workOnWebhooks(deps)
    await expireDeposit()
    await expect.poll(() => receiver.received).toHaveLength(1)
    await stop()
  })

  it('puts no secret into the log', async () => {
    receiver.answers.push(status(500))
    await expireDeposit()
    await publishEvents(deps)
    await deliver()
    expect(till.lines.join('')).not.toContain(SECRET.slice(6))
    expect(till.lines.join('')).not.toContain('webhook-signature')
  })
})
