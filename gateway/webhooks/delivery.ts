/** Delivers events to stores: claimed in the database, sent, and written down; retried from the database. */
import { sql } from 'kysely'
import type { Db } from '../db/client.ts'
import type { Queue } from '../db/queue.ts'
import type { Clock } from '../kit/clock.ts'
import type { Log } from '../kit/log.ts'
import { DELIVER_QUEUE } from './events.ts'
import { nextWaitMs } from './schedule.ts'
import type { Sender, SendResult } from './sender.ts'
import { type SignedHeaders, signWebhook } from './signature.ts'

export type DeliveryDeps = {
  db: Db
  queue: Queue
  clock: Clock
  log: Log
  send: Sender
  /** Opens a store's sealed webhook secret (`whsec_…`). */
  openSecret(storeId: bigint, sealed: Buffer): string
  random(): number
}

/** Longer than one attempt takes: a killed sender's claim then runs out and the sweep sends again. */
const CLAIM_MS = 18_000
const SECRET_CLOSED = 'the webhook secret of the store does not open'

type Claim = {
  eventId: string
  storeId: bigint
  attempts: number
  url: string
  secret: Buffer
  body: string
}

/** Sends one event if it is due; a store that answers 2xx has it. */
export async function deliver(deps: DeliveryDeps, eventId: string): Promise<void> {
  const claim = await claimDelivery(deps, eventId)
  if (claim === undefined) return
  const { url, body } = claim
  const headers = signedHeaders(deps, claim)
  const result: SendResult =
    headers === undefined
      ? { kind: 'failed', reason: SECRET_CLOSED }
      : await deps.send({ url, headers, body })
  await settle(deps, claim, result)
}

/**
 * Undefined when the store's secret does not open. Not for ever: most likely the gateway runs with another master
 * key, so that the attempt counts as one that failed and the plan goes on.
 */
function signedHeaders({ openSecret, clock, log }: DeliveryDeps, claim: Claim): SignedHeaders | undefined {
  const { eventId, storeId, secret, body } = claim
  try {
    return signWebhook(openSecret(storeId, secret), { id: eventId, body, at: clock.now() })
  } catch (error) {
    log.error(
      { err: error, event: eventId, store: String(storeId) },
      'a webhook cannot be signed: the secret of the store does not open, check the master key',
    )
    return undefined
  }
}

async function claimDelivery({ db, clock }: DeliveryDeps, eventId: string): Promise<Claim | undefined> {
  const now = clock.now()
  return db.transaction().execute(async (tx) => {
    const claimed = await tx
      .updateTable('webhook_delivery')
      .set((eb) => ({ attempts: eb('attempts', '+', 1), due_at: new Date(now.getTime() + CLAIM_MS) }))
      .where('event_id', '=', eventId)
      .where('state', '=', 'due')
      .where('due_at', '<=', now)
      .returning('attempts')
      .executeTakeFirst()
    if (claimed === undefined) return undefined
    const event = await tx
      .selectFrom('event')
      .innerJoin('store', 'store.id', 'event.store_id')
      .select(['event.payload', 'event.sequence', 'store.id', 'store.webhook_url', 'store.webhook_secret'])
      .where('event.id', '=', eventId)
      .executeTakeFirstOrThrow()
    const { webhook_url: url, webhook_secret: secret } = event
    if (url === null || secret === null) {
      const end = { state: 'failed' as const, due_at: null, last_result: 'the store has no webhook' }
      await tx.updateTable('webhook_delivery').set(end).where('event_id', '=', eventId).execute()
      return undefined
    }
    const body = JSON.stringify({ ...event.payload, sequence: Number(event.sequence) })
    return { eventId, storeId: event.id, attempts: claimed.attempts, url, secret, body }
  })
}

async function settle(deps: DeliveryDeps, claim: Claim, result: SendResult): Promise<void> {
  const { db, queue, clock, log } = deps
  const { eventId, attempts } = claim
  const about = { event: eventId, store: String(claim.storeId), attempts }
  const said = result.kind === 'answered' ? `status ${result.status}` : result.reason
  const now = clock.now()
  if (result.kind === 'answered' && result.status >= 200 && result.status < 300) {
    const done = { state: 'delivered' as const, due_at: null, delivered_at: now, last_result: said }
    await db.updateTable('webhook_delivery').set(done).where('event_id', '=', eventId).execute()
    log.info(about, 'webhook delivered')
    return
  }
  const gone = result.kind === 'answered' && result.status === 410
  const waitMs = gone ? undefined : nextWaitMs(attempts, deps.random())
  if (waitMs === undefined) {
    const end = { state: 'failed' as const, due_at: null, last_result: said }
    await db.updateTable('webhook_delivery').set(end).where('event_id', '=', eventId).execute()
    log.error({ ...about, said }, 'webhook given up: the store does not take it')
    return
  }
  const dueAt = new Date(now.getTime() + waitMs)
  await db.transaction().execute(async (tx) => {
    const next = { due_at: dueAt, last_result: said }
    await tx.updateTable('webhook_delivery').set(next).where('event_id', '=', eventId).execute()
    await queue.send(tx, DELIVER_QUEUE, { eventId }, { startAfter: dueAt, singletonKey: eventId })
  })
  log.warn({ ...about, said, retryInMs: waitMs }, 'webhook not taken, sending again later')
}

const MOST_DUE = 500

/** Wakes every delivery that is due: what a lost job would have woken. */
export async function sweepDeliveries({ db, queue, clock }: DeliveryDeps): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const due = await tx
      .selectFrom('webhook_delivery')
      .select('event_id')
      .where('state', '=', 'due')
      .where('due_at', '<=', sql<Date>`${clock.now()}`)
      .limit(MOST_DUE)
      .execute()
    for (const { event_id: eventId } of due) {
      await queue.send(tx, DELIVER_QUEUE, { eventId }, { singletonKey: eventId })
    }
  })
}
