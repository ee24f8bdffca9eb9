/** The attempts that a store may read, and the deliveries that it may repeat. */
import { randomUUID } from 'node:crypto'
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
import { readAttempts } from './attempt-store.ts'
import type { DeliveryDeps } from './delivery.ts'
import { endpointOf, lockedEndpointOf } from './endpoints.ts'
import { signWebhook } from './signature.ts'
import { DELIVERIES_TOPIC, replayDeliveries } from './store.ts'

/** Attempts at an endpoint of the store, newest first. */
export async function listAttempts(
  db: Db,
  storeId: bigint,
  { id, query }: { id: bigint; query: AttemptsQuery },
): Promise<AttemptList> {
  await endpointOf(db, storeId, id)
  const { after, limit } = query
  const rows = await readAttempts(db, id, {
    after: after === undefined ? undefined : BigInt(after),
    limit: limit + 1,
  })
  const attempts = rows.slice(0, limit).map((row) => ({
    id: String(row.id),
    eventId: row.event_id,
    eventType: row.type,
    sequence: Number(row.sequence),
    attempt: row.attempt,
    at: row.at.toISOString(),
    durationMs: row.duration_ms,
    status: row.status,
    failure: row.failure === null ? null : NO_ANSWER,
    answer: row.answer,
  }))
  return { attempts, next: rows.length > limit ? (attempts.at(-1)?.id ?? null) : null }
}

/**
 * All that a store is told of a call without an answer. Whether a port is closed, silent or forbidden would tell what
 * is in the operator's network; the log has the reason.
 */
const NO_ANSWER = 'no_answer' as const

type ReplayDeps = { db: Db; clock: Clock; signals: Pick<Signals, 'notify'> }

/**
 * Sends events again, whatever happens to attempts under way: one event, or those of a range that the endpoint wants. A
 * call that disables the endpoint waits until the replay is written, and then gives it up with the rest.
 */
export async function replay(
  { db, clock, signals }: ReplayDeps,
  storeId: bigint,
  { id, body }: { id: bigint; body: ReplayBody },
): Promise<{ replayed: number }> {
  return inTransaction(db, async (tx) => {
    const endpoint = await lockedEndpointOf(tx, storeId, { id, as: 'share' })
    if (endpoint.state === 'disabled') refuse('endpoint_disabled')
    const eventTypes = endpoint.event_types
    const replayed = await replayDeliveries(tx, { id, storeId, eventTypes, now: clock.now() }, body)
    if ('eventId' in body && replayed === 0) refuse('not_found')
    if (replayed > 0) await signals.notify(tx, DELIVERIES_TOPIC)
    return { replayed }
  })
}

/** Sends a test message now and returns what the endpoint said. It is not an event: handlers answer 2xx and do nothing. */
export async function sendTest(
  deps: Pick<DeliveryDeps, 'db' | 'clock' | 'log' | 'send' | 'secretsOf'>,
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
  const result = await deps.send({ storeId, url: endpoint.url, headers, body })
  const durationMs = Math.round(performance.now() - begin)
  if (result.kind === 'failed') {
    const about = { store: String(storeId), endpoint: String(endpointId), said: result.reason }
    deps.log.info(about, 'test of a webhook got no answer')
    return { delivered: false, status: null, failure: NO_ANSWER, durationMs, answer: null }
  }
  const { status, text: answer } = result
  return { delivered: status >= 200 && status < 300, status, failure: null, durationMs, answer }
}
