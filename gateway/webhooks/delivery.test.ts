import { sql } from 'kysely'
import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { EventType } from '../../contract/webhooks.ts'
import { webhookSchema } from '../../contract/webhooks.ts'
import { openDatabase } from '../db/client.ts'
import { storeDepositOf } from '../deposits/store-deposit.ts'
import { createSecretBox, type SecretBox } from '../kit/secret-box.ts'
import { type Receiver, startReceiver, status } from '../testing/receiver.ts'
import { aDeposit, anEndpoint, aStore, startTill, type Till } from '../testing/till.ts'
import { claimDue, expiredDeposit, SECRET, sendDue, senderDeps } from '../testing/webhooks.ts'
import { attempt } from './delivery.ts'
import { readEvents, recordEvent } from './events.ts'
import { sweepWebhooks, type WebhookDeps, workOnWebhooks } from './jobs.ts'
import { publishEvents } from './publisher.ts'

const HOUR_MS = 3_600_000

let till: Till
let receiver: Receiver
let store: { id: bigint }
let deps: WebhookDeps

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

/** An event of a fresh deposit. */
const expired = (of = store) => expiredDeposit(till, of)

const delivery = () => till.db.selectFrom('webhook_delivery').selectAll().executeTakeFirstOrThrow()

/** Sends what is due, as the lanes do. */
async function deliver(using: WebhookDeps = deps): Promise<void> {
  const { endpoint_id: endpointId } = await delivery()
  await sendDue(using, endpointId)
}

const attempts = () => till.db.selectFrom('webhook_attempt').selectAll().orderBy('id').execute()

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

  it('D-40 is signed by the clock of the machine, and tried again by the one that was advanced', async () => {
    till.clock.jump(8 * 24 * HOUR_MS)
    const date = new Date(till.clock.machineNow().getTime() + HOUR_MS)
    receiver.answers.push(status(503, { 'retry-after': date.toUTCString() }))
    await expired()
    await publishEvents(deps)
    await deliver()
    const [got] = receiver.received
    const at = Number(got?.headers['webhook-timestamp'])
    expect(at).toBe(Math.floor(till.clock.machineNow().getTime() / 1_000))
    // The header has no milliseconds, and is of the machine's clock.
    const due = till.clock.tillTime(new Date(date.toUTCString()))
    expect((await delivery()).due_at).toEqual(due)
    const inMs = due.getTime() - till.clock.now().getTime()
    expect([inMs > HOUR_MS - 1_001, inMs <= HOUR_MS]).toEqual([true, true])
    till.clock.jump(HOUR_MS)
    await deliver()
    expect(await delivery()).toMatchObject({ state: 'delivered' })
  })

  it('that is not taken is sent again later, with the same id, until it is', async () => {
    receiver.answers.push(status(500), status(302, { location: receiver.url }))
    await expired()
    await publishEvents(deps)
    const { event_id: eventId } = await delivery()
    await deliver()
    await deliver()
    expect(receiver.received).toHaveLength(1)
    expect(await delivery()).toMatchObject({ state: 'due', attempts: 1, last_result: 'status 500' })
    till.clock.advance(5_000)
    await deliver()
    expect(await delivery()).toMatchObject({ state: 'due', attempts: 2, last_result: 'status 302' })
    till.clock.advance(30_000)
    await deliver()
    expect(await delivery()).toMatchObject({ state: 'delivered', attempts: 3, due_at: null })
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([eventId]))
  })

  it('whose secret does not open is a failed attempt, told loudly, and goes on by the plan', async () => {
    const ours = createSecretBox(Buffer.alloc(32, 1))
    const anothers = createSecretBox(Buffer.alloc(32, 2))
    await till.db
      .updateTable('webhook_endpoint')
      .set({ secret: ours.seal(SECRET, 'place') })
      .execute()
    const withKey = (box: SecretBox): WebhookDeps => ({
      ...deps,
      secretsOf: ({ secret }) => [box.open(secret, 'place')],
    })
    await expired()
    await publishEvents(deps)
    await deliver(withKey(anothers))
    expect(receiver.received).toEqual([])
    const reason = 'the webhook secret of the endpoint does not open'
    expect(await delivery()).toMatchObject({ state: 'due', attempts: 1, last_result: reason })
    expect((await delivery()).due_at?.getTime()).toBe(till.clock.now().getTime() + 5_000)
    expect(till.lines.filter((line) => line.includes('"error"')).join('')).toContain('check the master key')
    till.clock.advance(5_000)
    await deliver(withKey(ours))
    expect(await delivery()).toMatchObject({ state: 'delivered', attempts: 2 })
    expect(receiver.received).toHaveLength(1)
  })

  it('is given up, loudly, when the endpoint says that it is gone, and nothing more is sent there', async () => {
    receiver.answers.push(status(410))
    await expired()
    await expired()
    await publishEvents(deps)
    const { endpoint_id: endpointId } = await delivery()
    const [claim] = await claimDue(deps, endpointId, 1)
    if (claim === undefined) throw new Error('nothing is due')
    await attempt(deps, claim)
    const rows = await till.db.selectFrom('webhook_delivery').select(['state', 'last_result']).execute()
    expect(rows.map((row) => row.state)).toEqual(['failed', 'failed'])
    expect(rows.map((row) => row.last_result).sort()).toEqual(['status 410', 'the endpoint was disabled'])
    expect(till.lines.join('')).toContain('webhook given up')
    await expired()
    await publishEvents(deps)
    expect(await till.db.selectFrom('webhook_delivery').select('id').execute()).toHaveLength(2)
    expect(await sequences(store.id)).toEqual([1n, 2n, 3n])
  })

  it('is sent again when the endpoint asks for it, not before', async () => {
    receiver.answers.push(status(503, { 'retry-after': '120' }))
    await expired()
    await publishEvents(deps)
    await deliver()
    expect((await delivery()).due_at?.getTime()).toBe(till.clock.now().getTime() + 120_000)
  })

  it('leaves a trace of every attempt: when, how long, what was answered', async () => {
    receiver.answers.push((response) => response.writeHead(500).end('out of\0 paper'))
    await expired()
    await publishEvents(deps)
    await deliver()
    till.clock.advance(5_000)
    await deliver()
    expect(await attempts()).toMatchObject([
      { attempt: 1, status: 500, failure: null, answer: 'out of paper' },
      { attempt: 2, status: 204, failure: null, answer: '' },
    ])
  })

  it('carries a signature of each secret while they are exchanged', async () => {
    const next = `whsec_${Buffer.alloc(24, 8).toString('base64')}`
    await expired()
    await publishEvents(deps)
    await deliver({ ...deps, secretsOf: () => [next, SECRET] })
    const [got] = receiver.received
    const headers = Object.fromEntries(
      ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [
        name,
        String(got?.headers[name]),
      ]),
    )
    for (const secret of [next, SECRET]) new Webhook(secret).verify(got?.body ?? '', headers)
    expect(headers['webhook-signature']?.split(' ')).toHaveLength(2)
  })

  it('goes to every endpoint that wants its type', async () => {
    await anEndpoint(till, store, receiver.url, ['deposit.succeeded'])
    const third = await anEndpoint(till, store, receiver.url, ['deposit.payment_timeout'])
    await expired()
    await publishEvents(deps)
    const rows = await till.db.selectFrom('webhook_delivery').select('endpoint_id').execute()
    expect(rows.map((row) => row.endpoint_id)).toEqual([1n, third.id])
  })

  it('is given up after the last attempt', async () => {
    await expired()
    await publishEvents(deps)
    await receiver.close()
    for (let turn = 1; turn <= 11; turn += 1) {
      await deliver()
      till.clock.advance(24 * HOUR_MS)
    }
    expect(await delivery()).toMatchObject({ state: 'failed', attempts: 11, last_result: 'ECONNREFUSED' })
    receiver = await startReceiver()
  })

  it('is sent once where many workers are woken at the same time', async () => {
    await expired()
    await publishEvents(deps)
    await Promise.all(Array.from({ length: 10 }, () => deliver()))
    expect(receiver.received).toHaveLength(1)
  })

  it('whose sender was killed is sent again by the sweep', async () => {
    await expired()
    await publishEvents(deps)
    const killed: WebhookDeps = { ...deps, send: () => Promise.reject(new Error('killed')) }
    await expect(deliver(killed)).rejects.toThrow('killed')
    await deliver()
    expect(receiver.received).toEqual([])
    till.clock.advance(60_000)
    const stop = await workOnWebhooks(deps)
    await expect.poll(async () => (await delivery()).state).toBe('delivered')
    expect(receiver.received).toHaveLength(1)
    await stop()
  })

  it('reaches the store by itself, from the transition on', async () => {
    const stop = await workOnWebhooks(deps)
    await expired()
    await expect.poll(() => receiver.received).toHaveLength(1)
    await stop()
  })

  it('carries no secret into the log', async () => {
    receiver.answers.push(status(500))
    await expired()
    await publishEvents(deps)
    await deliver()
    expect(till.lines.join('')).not.toContain(SECRET.slice(6))
    expect(till.lines.join('')).not.toContain('webhook-signature')
  })
})

describe('positions of events', () => {
  it('are read in order and without gaps while 32 writers commit late', async () => {
    const rounds = 8
    const deposits = await Promise.all(Array.from({ length: 32 }, () => aDeposit(till, store)))
    const data = await storeDepositOf(till.db, { depositId: deposits[0]?.id ?? 0n }, 'http://till.test')
    if (data === undefined) throw new Error('the deposit is not there')
    const gate = openDatabase(till.url, 34)
    let writing = true
    const write = async ({ id }: { id: bigint }, part: number) => {
      await gate.db.transaction().execute(async (tx) => {
        const event = { id: till.deps.ids.uuid(), storeId: store.id, depositId: id, part, data }
        await recordEvent(tx, till.deps.queue, { ...event, type: 'deposit.pending', at: till.clock.now() })
        // The identity number is taken: others take theirs and commit before this one does.
        for (let turns = (Number(id) * 7 + part * 5) % 23; turns > 0; turns -= 1)
          await sql`select 1`.execute(tx)
      })
    }
    const writers = Promise.all(
      deposits.map(async (deposit) => {
        for (let part = 0; part < rounds; part += 1) await write(deposit, part)
      }),
    ).finally(() => {
      writing = false
    })
    const seen: number[] = []
    while (writing || seen.length < 32 * rounds) {
      await Promise.all([publishEvents(deps), publishEvents(deps)])
      const { events } = await readEvents(till.db, store.id, { after: seen.at(-1) ?? 0, limit: 50 })
      seen.push(...events.map((event) => event.sequence))
    }
    await writers
    await gate.close()
    expect(seen).toEqual(Array.from({ length: 32 * rounds }, (_, index) => index + 1))
  })

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
