/** One attempt to deliver an event to one endpoint: claimed in the database, sent, and written down. */
import { sql } from 'kysely'
import type { Db, Tx } from '../db/client.ts'
import { toWebhookEvent } from '../events/event.ts'
import type { TillClock } from '../kit/clock.ts'
import type { Log } from '../kit/log.ts'
import { disableEndpoint, type EndpointRow } from './endpoints.ts'
import { nextWaitMs, readRetryAfter } from './schedule.ts'
import type { Sender, SendResult } from './sender.ts'
import { type SignedHeaders, signWebhook } from './signature.ts'

export type DeliveryDeps = {
  db: Db
  clock: TillClock
  log: Log
  send: Sender
  /** Opens what signs for an endpoint now (`whsec_…`); throws if it does not open. */
  secretsOf(endpoint: Signer): string[]
  random(): number
  /** The waits of the schedule are divided by this: for proofs. */
  haste?: number
  onAttempt?(attempt: AttemptFacts): void
}

export type AttemptFacts = {
  outcome: 'delivered' | 'retried' | 'given_up'
  /** Of all: the first one of a replay is none. */
  isFirst: boolean
  /** From the event's cause to the beginning of this attempt. */
  sinceEventMs: number
}

export type Signer = Pick<EndpointRow, 'id' | 'store_id' | 'secret' | 'previous_secret' | 'previous_until'>

/** An attempt ends after 15 seconds; what a killed sender had in hand shall go on within 30. */
const CLAIM_MS = 18_000
const SECRET_CLOSED = 'the webhook secret of the endpoint does not open'
/** More failed attempts than the schedule has. */
const MOST_ATTEMPTS = 20

export type Claim = Signer & {
  delivery_id: bigint
  /** Of all claims of the delivery, which one this is. */
  claim: bigint
  event_id: string
  deposit_id: bigint
  url: string
  attempts: number
  payload: object
  sequence: bigint
  caused_at: Date
}

/** `first`: what no sender has had yet. `again`: retries, replays, and what a killed sender had in hand. */
export type LaneName = 'first' | 'again'

type ClaimDeps = Pick<DeliveryDeps, 'db' | 'clock'>

/**
 * Takes up to `most` deliveries of a lane that are due; among those that come again, those that were tried least come
 * first.
 */
export async function claimLane(
  { db, clock }: ClaimDeps,
  { endpointId, lane }: { endpointId: bigint; lane: LaneName },
  most: number,
): Promise<Claim[]> {
  const now = clock.now()
  const due =
    lane === 'first'
      ? sql`
        select id from webhook_delivery
        where endpoint_id = ${endpointId} and state = 'due' and claim = 0 and due_at <= ${now}
        order by due_at, id limit ${most} for update skip locked`
      : sql`
        select row.id from generate_series(0, ${MOST_ATTEMPTS}::int) tried,
        lateral (
          select id from webhook_delivery
          where endpoint_id = ${endpointId} and state = 'due' and claim > 0 and attempts = tried and due_at <= ${now}
          order by due_at, id limit ${most} for update skip locked
        ) row
        order by tried limit ${most}`
  const { rows } = await sql<Claim>`
    with due as (${due}),
    claimed as (
      update webhook_delivery set due_at = ${new Date(now.getTime() + CLAIM_MS)}, claim = claim + 1
      from due where webhook_delivery.id = due.id
      returning webhook_delivery.id, event_id, endpoint_id, attempts, claim
    )
    select claimed.id as delivery_id, claimed.attempts, claimed.claim, event.id as event_id, event.deposit_id,
      event.payload, event.sequence, event.created_at as caused_at, endpoint.id, endpoint.store_id, endpoint.url, endpoint.secret,
      endpoint.previous_secret, endpoint.previous_until
    from claimed join event on event.id = claimed.event_id
    join webhook_endpoint endpoint on endpoint.id = claimed.endpoint_id
    where endpoint.state = 'enabled'
    order by claimed.attempts, event.sequence`.execute(db)
  return rows
}

/** Sends a claimed delivery and writes down what became of it. A store that answers 2xx has the event. */
export async function attempt(deps: DeliveryDeps, claim: Claim, signal?: AbortSignal): Promise<void> {
  const at = deps.clock.now()
  const begin = performance.now()
  const result = await sendClaimed(deps, claim, signal)
  const durationMs = Math.round(performance.now() - begin)
  if (signal?.aborted) return release(deps, claim)
  await settle(deps, claim, { result, at, durationMs })
}

async function sendClaimed(
  deps: DeliveryDeps,
  claim: Claim,
  signal: AbortSignal | undefined,
): Promise<SendResult> {
  const event = toWebhookEvent({ id: claim.event_id, sequence: claim.sequence, payload: claim.payload })
  const body = JSON.stringify(event)
  const headers = signedHeaders(deps, claim, body)
  if (headers === undefined) return { kind: 'failed', reason: SECRET_CLOSED }
  return deps.send({ url: claim.url, headers, body, ...(signal && { signal }) })
}

/**
 * Undefined when the secret does not open. Not for ever: most likely the gateway runs with another master key, so
 * that the attempt counts as one that failed and the plan goes on.
 */
function signedHeaders(deps: DeliveryDeps, claim: Claim, body: string): SignedHeaders | undefined {
  try {
    return signWebhook(deps.secretsOf(claim), { id: claim.event_id, body, at: deps.clock.machineNow() })
  } catch (error) {
    deps.log.error(
      { err: error, ...aboutOf(claim) },
      'a webhook cannot be signed: the secret of the endpoint does not open, check the master key',
    )
    return undefined
  }
}

/** The process ends: another one shall send it now. */
async function release({ db, clock }: DeliveryDeps, claim: Claim): Promise<void> {
  await db
    .updateTable('webhook_delivery')
    .set({ due_at: clock.now() })
    .where('id', '=', claim.delivery_id)
    .where('claim', '=', claim.claim)
    .where('state', '=', 'due')
    .execute()
}

/** What every line of the log tells of a claimed delivery. */
export const aboutOf = (claim: Claim) => ({
  event: claim.event_id,
  deposit: String(claim.deposit_id),
  store: String(claim.store_id),
  endpoint: String(claim.id),
})

type Attempted = { result: SendResult; at: Date; durationMs: number }

async function settle(deps: DeliveryDeps, claim: Claim, attempted: Attempted): Promise<void> {
  const { result } = attempted
  const attempts = claim.attempts + 1
  const said = result.kind === 'answered' ? `status ${result.status}` : result.reason
  const about = { ...aboutOf(claim), attempts }
  const verdict = judge(deps, attempts, result)
  const isSettled = await write(deps, claim, { ...attempted, attempts, said, verdict })
  deps.onAttempt?.({
    outcome: verdict.outcome,
    isFirst: claim.claim === 1n,
    sinceEventMs: attempted.at.getTime() - claim.caused_at.getTime(),
  })
  if (!isSettled) {
    deps.log.warn({ ...about, said }, 'a webhook was answered after its claim had ended: it settles nothing')
    return
  }
  switch (verdict.outcome) {
    case 'delivered':
      deps.log.info(about, 'webhook delivered')
      return
    case 'retried':
      deps.log.warn({ ...about, said, retryInMs: verdict.waitMs }, 'webhook not taken, sending again later')
      return
    case 'given_up':
      deps.log.error({ ...about, said }, 'webhook given up: the store does not take it')
      return
    default:
      return verdict satisfies never
  }
}

type Verdict =
  | { outcome: 'delivered' }
  | { outcome: 'retried'; waitMs: number }
  /** `gone`: the endpoint wants nothing more. */
  | { outcome: 'given_up'; gone: boolean }

/** The store has the event. */
export const isTaken = (result: SendResult): boolean =>
  result.kind === 'answered' && result.status >= 200 && result.status < 300

function judge({ clock, random, haste = 1 }: DeliveryDeps, attempts: number, result: SendResult): Verdict {
  if (isTaken(result)) return { outcome: 'delivered' }
  if (result.kind === 'answered' && result.status === 410) return { outcome: 'given_up', gone: true }
  const asked = result.kind === 'answered' ? readRetryAfter(result.retryAfter, clock.machineNow()) : undefined
  const waitMs = nextWaitMs({ attempts, retryAfterMs: asked }, random())
  return waitMs === undefined
    ? { outcome: 'given_up', gone: false }
    : { outcome: 'retried', waitMs: waitMs / haste }
}

type Settled = Attempted & { attempts: number; said: string; verdict: Verdict }

/**
 * Keeps the attempt, and settles the delivery if it still is this claim's: meanwhile it may have been replayed, given
 * up with its endpoint, or claimed by another sender because this one took too long. False if nothing was settled.
 */
async function write({ db, clock }: DeliveryDeps, claim: Claim, settled: Settled): Promise<boolean> {
  const { result, at, durationMs, attempts, said, verdict } = settled
  const now = clock.now()
  const isGone = verdict.outcome === 'given_up' && verdict.gone
  return db.transaction().execute(async (tx) => {
    const disable = isGone && (await wantsNothing(tx, claim))
    await tx
      .insertInto('webhook_attempt')
      .values({
        delivery_id: claim.delivery_id,
        endpoint_id: claim.id,
        attempt: attempts,
        at,
        duration_ms: durationMs,
        status: result.kind === 'answered' ? result.status : null,
        failure: result.kind === 'failed' ? result.reason : null,
        answer: result.kind === 'answered' ? result.text : null,
      })
      .execute()
    const isDone = verdict.outcome === 'delivered'
    const { numUpdatedRows } = await tx
      .updateTable('webhook_delivery')
      .set({
        attempts,
        last_result: said,
        state: isDone ? 'delivered' : verdict.outcome === 'retried' ? 'due' : 'failed',
        due_at: verdict.outcome === 'retried' ? new Date(now.getTime() + verdict.waitMs) : null,
        delivered_at: isDone ? now : null,
      })
      .where('id', '=', claim.delivery_id)
      .where('claim', '=', claim.claim)
      .where('state', '=', 'due')
      .executeTakeFirstOrThrow()
    if (disable) await disableEndpoint(tx, claim.id, 'gone')
    return numUpdatedRows > 0n
  })
}

/**
 * Whether a 410 disables the endpoint: not one that its store has disabled or given another address meanwhile. It is
 * locked before any delivery, as whoever disables it does, so that two answers of 410 never wait for each other.
 */
async function wantsNothing(tx: Tx, { id, url }: Claim): Promise<boolean> {
  const endpoint = await tx
    .selectFrom('webhook_endpoint')
    .select(['state', 'url'])
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow()
  return endpoint.state === 'enabled' && endpoint.url === url
}
