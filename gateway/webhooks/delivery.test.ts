import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { EventType } from '../../contract/webhooks.ts'
import { webhookSchema } from '../../contract/webhooks.ts'
import { expireDeposit } from '../deposits/service.ts'
import { storeDepositOf } from '../deposits/store.ts'
import { createSecretBox, type SecretBox } from '../kit/secret-box.ts'
import { type Receiver, startReceiver, status } from '../testing/receiver.ts'
import { aDeposit, aStore, startTill, type Till } from '../testing/till.ts'
import { type DeliveryDeps, deliver, sweepDeliveries } from './delivery.ts'
import { recordEvent } from './events.ts'
import { sweepWebhooks, workOnWebhooks } from './jobs.ts'
import { publishEvents } from './publisher.ts'
import { createSender } from './sender.ts'

const SECRET = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
const HOUR_MS = 3_600_000

let till: Till
let receiver: Receiver
let store: { id: bigint }
let deps: DeliveryDeps

beforeEach(async () => {
  till = await startTill()
  receiver = await startReceiver()
  store = await aStore(till, { webhookUrl: receiver.url })
  deps = {
    ...till.deps,
    send: createSender({ mode: 'sandbox', deadlineMs: 2_000 }),
    openSecret: (_storeId, sealed) => (sealed.toString() === 'sealed' ? SECRET : 'wrong'),
    random: () => 0.5,
  }
})
afterEach(async () => {
  await receiver.close()
  await till.close()
})

/** An event of a fresh deposit: its time is over. */
async function expired(of = store): Promise<bigint> {
  const { id } = await aDeposit(till, of)
  await till.db.updateTable('deposit').set({ expires_at: till.clock.now() }).where('id', '=', id).execute()
  await expireDeposit(till.deps, id)
  return id
}

const delivery = () => till.db.selectFrom('webhook_delivery').selectAll().executeTakeFirstOrThrow()

const sequences = async (storeId: bigint) => {
  const rows = await till.db
    .selectFrom('event')
    .select('sequence')
    .where('store_id', '=', storeId)
    .orderBy('sequence')
    .execute()
  return rows.map((row) => row.sequence)
}

describe('a webhook', () => {
  it('tells the store of the transition, signed after Standard Webhooks, with its position', async () => {
    const id = await expired()
    await publishEvents(deps)
    await deliver(deps, (await delivery()).event_id)
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

  it('that is not taken is sent again later, with the same id, until it is', async () => {
    receiver.answers.push(status(500), status(302, { location: receiver.url }))
    await expired()
    await publishEvents(deps)
    const { event_id: eventId } = await delivery()
    await deliver(deps, eventId)
    await deliver(deps, eventId)
    expect(receiver.received).toHaveLength(1)
    expect(await delivery()).toMatchObject({ state: 'due', attempts: 1, last_result: 'status 500' })
    till.clock.advance(5_000)
    await deliver(deps, eventId)
    expect(await delivery()).toMatchObject({ state: 'due', attempts: 2, last_result: 'status 302' })
    till.clock.advance(30_000)
    await deliver(deps, eventId)
    expect(await delivery()).toMatchObject({ state: 'delivered', attempts: 3, due_at: null })
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([eventId]))
  })

  it('whose secret does not open is a failed attempt, told loudly, and goes on by the plan', async () => {
    const ours = createSecretBox(Buffer.alloc(32, 1))
    const anothers = createSecretBox(Buffer.alloc(32, 2))
    await till.db
      .updateTable('store')
      .set({ webhook_secret: ours.seal(SECRET, 'place') })
      .execute()
    const withKey = (box: SecretBox): DeliveryDeps => ({
      ...deps,
      openSecret: (_storeId, sealed) => box.open(sealed, 'place'),
    })
    await expired()
    await publishEvents(deps)
    const { event_id: eventId } = await delivery()
    await deliver(withKey(anothers), eventId)
    expect(receiver.received).toEqual([])
    const reason = 'the webhook secret of the store does not open'
    expect(await delivery()).toMatchObject({ state: 'due', attempts: 1, last_result: reason })
    expect((await delivery()).due_at?.getTime()).toBe(till.clock.now().getTime() + 3_750)
    expect(till.lines.filter((line) => line.includes('"error"')).join('')).toContain('check the master key')
    till.clock.advance(5_000)
    await deliver(withKey(ours), eventId)
    expect(await delivery()).toMatchObject({ state: 'delivered', attempts: 2 })
    expect(receiver.received).toHaveLength(1)
  })

  it('is given up, loudly, when the store says that it is gone', async () => {
    receiver.answers.push(status(410))
    await expired()
    await publishEvents(deps)
    await deliver(deps, (await delivery()).event_id)
    expect(await delivery()).toMatchObject({ state: 'failed', due_at: null, last_result: 'status 410' })
    expect(till.lines.join('')).toContain('webhook given up')
  })

  it('is given up after the last attempt', async () => {
    await expired()
    await publishEvents(deps)
    const { event_id: eventId } = await delivery()
    await receiver.close()
    for (let attempt = 1; attempt <= 10; attempt += 1) {
      await deliver(deps, eventId)
      till.clock.advance(24 * HOUR_MS)
    }
    expect(await delivery()).toMatchObject({ state: 'failed', attempts: 10, last_result: 'ECONNREFUSED' })
    receiver = await startReceiver()
  })

  it('is sent once where many workers are woken at the same time', async () => {
    await expired()
    await publishEvents(deps)
    const { event_id: eventId } = await delivery()
    await Promise.all(Array.from({ length: 10 }, () => deliver(deps, eventId)))
    expect(receiver.received).toHaveLength(1)
  })

  it('whose sender was killed is sent again by the sweep', async () => {
    await expired()
    await publishEvents(deps)
    const { event_id: eventId } = await delivery()
    const killed: DeliveryDeps = { ...deps, send: () => Promise.reject(new Error('killed')) }
    await expect(deliver(killed, eventId)).rejects.toThrow('killed')
    await deliver(deps, eventId)
    expect(receiver.received).toEqual([])
    till.clock.advance(60_000)
    const stop = await workOnWebhooks(deps)
    await sweepDeliveries(deps)
    await expect.poll(async () => (await delivery()).state, { timeout: 10_000 }).toBe('delivered')
    expect(receiver.received).toHaveLength(1)
    await stop()
  })

  it('reaches the store by itself, from the transition on', async () => {
    const stop = await workOnWebhooks(deps)
    await expired()
    await expect.poll(() => receiver.received, { timeout: 10_000 }).toHaveLength(1)
    await stop()
  })

  it('carries no secret into the log', async () => {
    receiver.answers.push(status(500))
    await expired()
    await publishEvents(deps)
    await deliver(deps, (await delivery()).event_id)
    expect(till.lines.join('')).not.toContain(SECRET.slice(6))
    expect(till.lines.join('')).not.toContain('webhook-signature')
  })
})

describe('positions of events', () => {
  it('are dense per store under concurrent writers and publishers', async () => {
    const other = await aStore(till)
    await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        await expired(index % 2 === 0 ? store : other)
        await publishEvents(deps)
      }),
    )
    await sweepWebhooks(deps)
    const dense = Array.from({ length: 10 }, (_, index) => BigInt(index + 1))
    expect(await sequences(store.id)).toEqual(dense)
    expect(await sequences(other.id)).toEqual(dense)
    expect(await till.db.selectFrom('webhook_delivery').select('event_id').execute()).toHaveLength(10)
  })

  it('an event of a transaction that takes long neither stops another one nor gets lost', async () => {
    const [slow, quick] = [await aDeposit(till, store), await aDeposit(till, store)]
    const record = async (tx: Parameters<typeof recordEvent>[0], depositId: bigint): Promise<void> => {
      const data = await storeDepositOf(tx, { depositId }, till.deps.publicUrl)
      if (data === undefined) throw new Error('the deposit is not there')
      const type: EventType = 'deposit.pending'
      const at = till.clock.now()
      const event = { id: till.deps.ids.uuid(), storeId: store.id, depositId, type, data, at }
      await recordEvent(tx, till.deps.queue, event)
    }
    await till.db.transaction().execute(async (tx) => {
      await record(tx, slow.id)
      await till.db.transaction().execute((own) => record(own, quick.id))
      await publishEvents(deps)
      expect(await sequences(store.id)).toContain(1n)
    })
    await publishEvents(deps)
    expect(await sequences(store.id)).toEqual([1n, 2n])
    const first = await till.db
      .selectFrom('event')
      .select('deposit_id')
      .where('sequence', '=', 1n)
      .executeTakeFirst()
    expect(first?.deposit_id).toBe(quick.id)
  })
})
