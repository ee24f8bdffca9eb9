/** The attempts that a store can read, the deliveries that it can repeat, and tests of its endpoints. */
import { MOST_REPLAYED } from '../../contract/limits.ts'
import type { AttemptList, AttemptsQuery, ReplayBody, TestResult } from '../../contract/webhooks.ts'
import type { Db, Tx } from '../db/client.ts'
import type { Signals } from '../db/signals.ts'
import { inTransaction } from '../db/transaction.ts'
import { refuse } from '../http/refusal.ts'
import type { Clock } from '../kit/clock.ts'
import { DAY_MS } from '../kit/duration.ts'
import { keysetPage } from '../kit/keyset-page.ts'
import { readAttempts } from './attempt-store.ts'
import { type ChallengeDeps, challengeEndpoint } from './challenge.ts'
import { type EndpointRow, proveEndpoint } from './endpoint-store.ts'
import { endpointOf, lockedEndpointOf } from './endpoints.ts'
import { countChosen, countReplayedSince, isReplaying, lockReplays, noteReplay } from './replay-store.ts'
import { isAccepted } from './sender.ts'
import { DELIVERIES_TOPIC, replayDeliveries } from './store.ts'

/** Newest first. */
export async function listAttempts(
  db: Db,
  storeId: bigint,
  { id, query }: { id: bigint; query: AttemptsQuery },
): Promise<AttemptList> {
  await endpointOf(db, storeId, id)
  const { after, limit } = query
  const filter = { after: after === undefined ? undefined : BigInt(after), limit }
  const { rows, next } = await keysetPage(filter, (page) => readAttempts(db, id, page), 'id')
  const attempts = rows.map((row) => ({
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
  return { attempts, next: next === null ? null : String(next) }
}

/**
 * The only failure that a store sees for a call without an answer. The reason, such as a closed, silent or forbidden
 * port, would reveal the operator's network. The till's log has it.
 */
const NO_ANSWER = 'no_answer' as const

/** How many deliveries one store can repeat in 24 hours. */
const MOST_REPLAYED_A_DAY = 50_000
const HOUR_S = 3_600

type ReplayDeps = { db: Db | Tx; clock: Clock; signals: Pick<Signals, 'notify'> }

/**
 * Makes deliveries due again, independently of running attempts: those of one event, or of all events in a range that
 * the endpoint subscribes to. A call that disables the endpoint waits until the replay is written, and then gives up
 * the replayed deliveries too. A store can replay one range at a time, because a range can have thousands of events.
 */
export async function replay(
  { db, clock, signals }: ReplayDeps,
  storeId: bigint,
  { id, body }: { id: bigint; body: ReplayBody },
): Promise<{ replayed: number }> {
  return inTransaction(db, async (tx) => {
    await lockReplays(tx, storeId)
    const endpoint = await lockedEndpointOf(tx, storeId, { id, as: 'share' })
    refuseUnlessEnabled(endpoint)
    const eventTypes = endpoint.event_types
    const now = clock.now()
    await refuseExcessiveReplay(tx, { storeId, eventTypes, now }, body)
    const replayed = await replayDeliveries(tx, { id, storeId, eventTypes, now }, body)
    if ('eventId' in body && replayed === 0) refuse('not_found', { asked: `eventId ${body.eventId}` })
    if (replayed > 0) {
      await noteReplay(tx, { storeId, at: now, deliveries: replayed, since: dayBefore(now) })
      await signals.notify(tx, DELIVERIES_TOPIC)
    }
    return { replayed }
  })
}

const dayBefore = (now: Date): Date => new Date(now.getTime() - DAY_MS)

function refuseUnlessEnabled({ state }: EndpointRow): void {
  if (state === 'disabled') refuse('endpoint_disabled')
  if (state === 'pending') refuse('endpoint_unproved')
}

type Replaying = { storeId: bigint; eventTypes: readonly string[] | null; now: Date }

async function refuseExcessiveReplay(
  tx: Tx,
  { storeId, eventTypes, now }: Replaying,
  choice: ReplayBody,
): Promise<void> {
  if (!('eventId' in choice) && (await isReplaying(tx, storeId, now))) {
    refuse('replay_in_progress', { retryAfterS: 10 })
  }
  const { all, chosen } = await countChosen(tx, { storeId, eventTypes, choice })
  if (all > MOST_REPLAYED)
    refuse('invalid_request', [
      { path: 'toSequence', message: `must be smaller: the range has more than ${MOST_REPLAYED} events` },
    ])
  const remaining = MOST_REPLAYED_A_DAY - (await countReplayedSince(tx, storeId, dayBefore(now)))
  if (remaining <= 0 || chosen > remaining) refuse('replay_quota', { retryAfterS: HOUR_S })
}

type TestDeps = ChallengeDeps & { db: Db }

/**
 * Sends a test message now and returns the endpoint's answer. The message is not an event. A `pending` endpoint is
 * enabled if its answer repeats the challenge.
 */
export async function sendTest(deps: TestDeps, storeId: bigint, endpointId: bigint): Promise<TestResult> {
  const endpoint = await endpointOf(deps.db, storeId, endpointId)
  if (endpoint.state === 'disabled') refuse('endpoint_disabled')
  const { result, durationMs, isChallengeRepeated } = await challengeEndpoint(deps, endpoint)
  if (isChallengeRepeated && endpoint.state === 'pending')
    await proveEndpoint(deps.db, endpoint.id, endpoint.url)
  const common = { durationMs, challengeRepeated: isChallengeRepeated }
  return result.kind === 'failed'
    ? { delivered: false, status: null, failure: NO_ANSWER, answer: null, ...common }
    : { delivered: isAccepted(result), status: result.status, failure: null, answer: result.text, ...common }
}
