/**
 * Writers of an endpoint's deliveries, and calls that disable the endpoint, wait for each other in either order.
 * Rotations of its secret wait for each other too.
 */
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openDatabase } from '../db/client.ts'
import { publishEvents } from '../events/service.ts'
import { createSecretBox } from '../kit/secret-box.ts'
import { aStore, startTill, type Till } from '../testing/till.ts'
import { ANY_ALLOWED, claimDue, expiredDeposit } from '../testing/webhooks.ts'
import { replay } from './attempts.ts'
import { disableEndpoint } from './endpoint-store.ts'
import { addEndpoint, endpointOf, rotateSecret, secretsOf, switchEndpoint } from './endpoints.ts'
import { deliveryWriter } from './store.ts'

let till: Till
let store: { id: bigint }
let endpointId: bigint

beforeEach(async () => {
  till = await startTill()
  store = await aStore(till, { webhookUrl: 'http://127.0.0.1:9/' })
  endpointId = (await till.db.selectFrom('webhook_endpoint').select('id').executeTakeFirstOrThrow()).id
  await expiredDeposit(till, store)
})
afterEach(() => till.close())

const RANGE = { fromSequence: 1, toSequence: 9 }
const replayRange = (signals = till.deps.signals) =>
  replay({ ...till.deps, signals }, store.id, { id: endpointId, body: RANGE })
const switchTo = (on: boolean) => switchEndpoint(till.db, store.id, { id: endpointId, on })
const deliveries = () =>
  till.db.selectFrom('webhook_delivery').select(['state', 'due_at']).orderBy('id').execute()

/** Signals that hold a transaction just before its commit. */
function signalsThatWait() {
  const reached = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const notify = async (): Promise<void> => {
    reached.resolve()
    await gate.promise
  }
  return { signals: { ...till.deps.signals, notify }, reached: reached.promise, open: gate.resolve }
}

/** Resolves once `count` queries wait for a lock, or one of `works` has ended without waiting. */
async function untilBlocked(count: number, ...works: Promise<unknown>[]): Promise<void> {
  let hasAnyEnded = false
  // The test itself awaits the work, and sees its failure.
  for (const work of works) void work.finally(() => (hasAnyEnded = true)).catch(() => {})
  const locked = async () => {
    const { rows } = await sql`
      select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and state = 'active'`.execute(till.db)
    return hasAnyEnded || rows.length === count
  }
  await expect.poll(locked).toBe(true)
}

describe('if its endpoint is disabled meanwhile, a delivery that', () => {
  it.each([
    [
      'a publication',
      (signals: Till['deps']['signals']) =>
        publishEvents({ ...till.deps, addDeliveries: deliveryWriter({ ...till.deps, signals }) }),
    ],
    ['a replay', async (signals: Till['deps']['signals']) => void (await replayRange(signals))],
  ])('%s writes is given up', async (what, write) => {
    if (what === 'a replay') {
      await publishEvents(till.deps)
      await till.db.updateTable('webhook_delivery').set({ state: 'delivered', due_at: null }).execute()
    }
    const { signals, reached, open } = signalsThatWait()
    const writing = write(signals)
    await reached
    const disabling = switchTo(false)
    await untilBlocked(1, disabling)
    open()
    await Promise.all([writing, disabling])
    expect(await deliveries()).toEqual([{ state: 'failed', due_at: null }])
    await switchTo(true)
    expect(await claimDue(till.deps, endpointId, 8)).toEqual([])
  })
})

describe('while an endpoint is being disabled', () => {
  /** Disables the endpoint in a transaction that the test commits. */
  async function startDisabling() {
    const connection = openDatabase(till.url, 1)
    const done = Promise.withResolvers<void>()
    const gate = Promise.withResolvers<void>()
    const ended = connection.db
      .transaction()
      .execute(async (tx) => {
        await disableEndpoint(tx, endpointId, 'by_store')
        done.resolve()
        await gate.promise
      })
      .finally(() => connection.close())
    await done.promise
    return async () => {
      gate.resolve()
      await ended
    }
  }

  it('no event is published to it', async () => {
    const commit = await startDisabling()
    const publishing = publishEvents(till.deps)
    await untilBlocked(1, publishing)
    await commit()
    await publishing
    expect(await deliveries()).toEqual([])
    const events = await till.db.selectFrom('event').select('sequence').execute()
    expect(events).toEqual([{ sequence: 1n }])
  })

  it('no event is replayed to it', async () => {
    await publishEvents(till.deps)
    const commit = await startDisabling()
    const answer = replayRange()
    await untilBlocked(1, answer)
    await commit()
    await expect(answer).rejects.toMatchObject({ code: 'endpoint_disabled' })
    expect(await deliveries()).toEqual([{ state: 'failed', due_at: null }])
  })
})

it('after two simultaneous rotations, both new secrets sign', async () => {
  const box = createSecretBox(Buffer.alloc(32, 3))
  const { id } = await till.db
    .transaction()
    .execute((tx) =>
      addEndpoint(tx, { ...till.deps, box }, { storeId: store.id, url: 'http://127.0.0.1:9/' }),
    )
  const deps = { ...till.deps, box, mode: 'sandbox' as const, findAllowance: ANY_ALLOWED }
  const rotate = () => rotateSecret(deps, store.id, { id: BigInt(id), overlapHours: 1 })
  const rotations = await till.db.transaction().execute(async (tx) => {
    await tx.selectFrom('webhook_endpoint').select('id').where('id', '=', BigInt(id)).forUpdate().execute()
    const waiting = [rotate(), rotate()]
    await untilBlocked(2, ...waiting)
    return waiting
  })
  const newSecrets = (await Promise.all(rotations)).map(({ secret }) => secret)
  const signing = secretsOf(box, await endpointOf(till.db, store.id, BigInt(id)), till.clock.now())
  expect(signing.sort()).toEqual(newSecrets.sort())
})

it('after a rotation, the old secret signs until its time is up', async () => {
  const box = createSecretBox(Buffer.alloc(32, 3))
  const url = 'http://127.0.0.1:9/'
  const { id, secret: old } = await till.db
    .transaction()
    .execute((tx) => addEndpoint(tx, { ...till.deps, box }, { storeId: store.id, url }))
  const { secret } = await rotateSecret({ ...till.deps, box }, store.id, { id: BigInt(id), overlapHours: 1 })
  const signing = async () =>
    secretsOf(box, await endpointOf(till.db, store.id, BigInt(id)), till.clock.now())
  till.clock.advance(3_600_000 - 1)
  expect(await signing()).toEqual([secret, old])
  till.clock.advance(1)
  expect(await signing()).toEqual([secret])
})
