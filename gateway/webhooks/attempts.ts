/** What a store may see and repeat of its deliveries. */
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import {
  type AttemptList,
  type AttemptsQuery,
  type ReplayBody,
  TEST_TYPE,
  type TestResult,
} from '../../contract/webhooks.ts'
import type { Db } from '../db/client.ts'
import type { Signals } from '../db/signals.ts'
import { inTransaction } from '../db/transaction.ts'
import { refuse } from '../http/refusal.ts'
import type { Clock } from '../kit/clock.ts'
import type { DeliveryDeps } from './delivery.ts'
import { endpointOf, lockedEndpointOf } from './endpoints.ts'
import { signWebhook } from './signature.ts'
import { DELIVERIES_TOPIC } from './store.ts'

/** Attempts at an endpoint of the store, newest first. */
export async function listAttempts(
  db: Db,
  storeId: bigint,
  { id, query }: { id: bigint; query: AttemptsQuery },
): Promise<AttemptList> {
  await endpointOf(db, storeId, id)
  const { after, limit } = query
  const all = db
    .selectFrom('webhook_attempt')
    .innerJoin('webhook_delivery', 'webhook_delivery.id', 'webhook_attempt.delivery_id')
    .innerJoin('event', 'event.id', 'webhook_delivery.event_id')
    .select([
      'webhook_attempt.id',
      'event.id as event_id',
      'event.type',
      'event.sequence',
      'webhook_attempt.attempt',
    ])
    .select(['webhook_attempt.at', 'webhook_attempt.duration_ms', 'webhook_attempt.status'])
    .select(['webhook_attempt.failure', 'webhook_attempt.answer'])
    .where('webhook_attempt.endpoint_id', '=', id)
  const page = after === undefined ? all : all.where('webhook_attempt.id', '<', BigInt(after))
  const rows = await page
    .orderBy('webhook_attempt.id', 'desc')
    .limit(limit + 1)
    .execute()
  const attempts = rows.slice(0, limit).map((row) => ({
    id: String(row.id),
    eventId: row.event_id,
    eventType: row.type,
    sequence: Number(row.sequence),
    attempt: row.attempt,
    at: row.at.toISOString(),
    durationMs: row.duration_ms,
    status: row.status,
    failure: row.failure,
    answer: row.answer,
  }))
  return { attempts, next: rows.length > limit ? (attempts.at(-1)?.id ?? null) : null }
}

type ReplayDeps = { db: Db; clock: Clock; signals: Pick<Signals, 'notify'> }

/**
 * Sends events again, whatever becomes of attempts that are under way: one, or of a range of positions those that the
 * endpoint wants. Who disables the endpoint waits until the replay is written, and then gives it up too.
 */
export async function replay(
  { db, clock, signals }: ReplayDeps,
  storeId: bigint,
  { id, body }: { id: bigint; body: ReplayBody },
): Promise<{ replayed: number }> {
  return inTransaction(db, async (tx) => {
    const endpoint = await lockedEndpointOf(tx, storeId, { id, as: 'share' })
    if (endpoint.state === 'disabled') refuse('endpoint_disabled')
    const chosen =
      'eventId' in body
        ? sql`id = ${body.eventId}::uuid and sequence is not null`
        : sql`sequence between ${body.fromSequence} and ${body.toSequence}
            and (${endpoint.event_types}::text[] is null or type = any(${endpoint.event_types}::text[]))`
    // Claimed once, so that it is in the lane of what comes again; what was never sent keeps its place.
    const { rows } = await sql`
      insert into webhook_delivery (event_id, endpoint_id, due_at, claim)
      select id, ${id}::bigint, ${clock.now()}, 1 from event where store_id = ${storeId} and ${chosen}
      order by sequence
      on conflict (event_id, endpoint_id) do update
        set state = 'due', attempts = 0, due_at = excluded.due_at, delivered_at = null,
          claim = case when webhook_delivery.state = 'due' and webhook_delivery.claim = 0 then 0
            else webhook_delivery.claim + 1 end
      returning id`.execute(tx)
    if ('eventId' in body && rows.length === 0) refuse('not_found')
    if (rows.length > 0) await signals.notify(tx, DELIVERIES_TOPIC)
    return { replayed: rows.length }
  })
}

/** Sends a test message now and tells what the endpoint said. It is no event: handlers answer 2xx and do nothing. */
export async function sendTest(
  deps: Pick<DeliveryDeps, 'db' | 'clock' | 'send' | 'secretsOf'>,
  storeId: bigint,
  endpointId: bigint,
): Promise<TestResult> {
  const endpoint = await endpointOf(deps.db, storeId, endpointId)
  if (endpoint.state === 'disabled') refuse('endpoint_disabled')
  const id = randomUUID()
  const at = deps.clock.now()
  const data = { endpointId: String(endpointId) }
  const body = JSON.stringify({ id, type: TEST_TYPE, timestamp: at.toISOString(), data })
  const headers = signWebhook(deps.secretsOf(endpoint), { id, body, at: deps.clock.machineNow() })
  const begin = performance.now()
  const result = await deps.send({ url: endpoint.url, headers, body })
  const durationMs = Math.round(performance.now() - begin)
  if (result.kind === 'failed') {
    return { delivered: false, status: null, failure: result.reason, durationMs, answer: null }
  }
  const { status, text: answer } = result
  return { delivered: status >= 200 && status < 300, status, failure: null, durationMs, answer }
}
