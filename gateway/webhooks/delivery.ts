/** One attempt to deliver an event to one endpoint: claimed in the database, sent, and recorded. */
import type { Db, Tx } from '../db/client.ts'
import { toWebhookEvent } from '../events/event.ts'
import type { TillClock } from '../kit/clock.ts'
import type { Log } from '../kit/log.ts'
import { insertAttempt } from './attempt-store.ts'
import { disableEndpoint, lockEndpoint } from './endpoint-store.ts'
import { waitAfterMs } from './schedule.ts'
import { isAccepted, resultText, type Sender, type SendResult } from './sender.ts'
import { type SignedHeaders, signWebhook } from './signature.ts'
import { type Claim, releaseClaim, type Signer, settleClaim } from './store.ts'

export type DeliveryDeps = {
  db: Db
  clock: TillClock
  log: Log
  send: Sender
  /** Decrypts the secrets that sign for an endpoint now (`whsec_…`). Throws if the newest cannot be decrypted. */
  secretsOf(endpoint: Signer): string[]
  random(): number
  /** Divides the waits of the schedule, to speed up proofs. */
  haste?: number
  onAttempt?(attempt: AttemptFacts): void
}

/** `retried`: the webhook will be sent again. */
export const ATTEMPT_OUTCOMES = ['delivered', 'retried', 'given_up'] as const

export type AttemptFacts = {
  outcome: (typeof ATTEMPT_OUTCOMES)[number]
  /** True for the very first attempt at the delivery, not for the first attempt of a replay. */
  isFirst: boolean
  /** Time from the event to the start of this attempt. */
  sinceEventMs: number
}

const SECRET_UNREADABLE = 'the webhook secret of the endpoint could not be decrypted'

/** Sends a claimed delivery and records the result. An answer of 2xx means that the store has the event. */
export async function attemptDelivery(deps: DeliveryDeps, claim: Claim, signal?: AbortSignal): Promise<void> {
  const at = deps.clock.now()
  const begin = performance.now()
  const result = await sendClaimed(deps, claim, signal)
  const durationMs = Math.round(performance.now() - begin)
  // Shutting down: let another process send the webhook, unless the store has accepted it.
  if (signal?.aborted && !isAccepted(result)) return releaseClaim(deps.db, claim, deps.clock.now())
  await settle(deps, claim, { result, at, durationMs, attempts: claim.attempts + 1 })
}

async function sendClaimed(
  deps: DeliveryDeps,
  claim: Claim,
  signal: AbortSignal | undefined,
): Promise<SendResult> {
  const event = toWebhookEvent({ id: claim.event_id, sequence: claim.sequence, payload: claim.payload })
  const body = JSON.stringify(event)
  const headers = signedHeaders(deps, claim, body)
  if (headers === undefined) return { kind: 'failed', reason: SECRET_UNREADABLE }
  return deps.send({ storeId: claim.store_id, url: claim.url, headers, body, ...(signal && { signal }) })
}

/**
 * Returns undefined if the secret cannot be decrypted, probably because the master key is missing. The attempt then
 * counts as failed, and the schedule continues.
 */
function signedHeaders(deps: DeliveryDeps, claim: Claim, body: string): SignedHeaders | undefined {
  try {
    return signWebhook(deps.secretsOf(claim), { id: claim.event_id, body, at: deps.clock.machineNow() })
  } catch (error) {
    deps.log.error(
      { err: error, ...logFieldsOf(claim) },
      'webhook could not be signed: the secret of its endpoint could not be decrypted, check the master key',
    )
    return undefined
  }
}

export const logFieldsOf = (claim: Claim) => ({
  event: claim.event_id,
  // An epoch's event has no deposit.
  ...(claim.deposit_id !== null && { deposit: String(claim.deposit_id) }),
  store: String(claim.store_id),
  endpoint: String(claim.id),
})

type Attempted = { result: SendResult; at: Date; durationMs: number; attempts: number }

async function settle(deps: DeliveryDeps, claim: Claim, attempted: Attempted): Promise<void> {
  const { result, attempts } = attempted
  const text = resultText(result)
  const about = { ...logFieldsOf(claim), attempts }
  const { verdict, isSettled } = await recordAttempt(deps, claim, attempted)
  deps.onAttempt?.({
    outcome: verdict.kind,
    isFirst: claim.claim === 1n,
    sinceEventMs: attempted.at.getTime() - claim.caused_at.getTime(),
  })
  if (!isSettled) {
    deps.log.warn(
      { ...about, result: text },
      'webhook attempt ended after it had lost its claim, so nothing was settled',
    )
    return
  }
  switch (verdict.kind) {
    case 'delivered':
      deps.log.info(about, 'webhook was delivered')
      return
    case 'retried':
      deps.log.warn(
        { ...about, result: text, retryInMs: verdict.waitMs },
        'webhook was not accepted and will be sent again',
      )
      return
    case 'given_up':
      deps.log.error({ ...about, result: text }, 'webhook was given up: no attempt was accepted')
      return
    default:
      return verdict satisfies never
  }
}

type Verdict =
  | { kind: 'delivered' }
  | { kind: 'retried'; waitMs: number }
  /** `isGone`: the endpoint answered 410 and is still enabled, so it must be disabled. */
  | { kind: 'given_up'; isGone: boolean }

/**
 * Decides what follows from the result. After a 410, locks the endpoint's row, which the caller may have to change. An
 * answer of an address that the store has left does not count as a 410: the new address gets the event. The endpoint is
 * locked before its deliveries, as in every transaction that locks both, so two 410 answers cannot deadlock.
 */
async function judge(
  tx: Tx,
  { clock, random, haste = 1 }: DeliveryDeps,
  { claim, result, attempts }: Attempted & { claim: Claim },
): Promise<Verdict> {
  if (isAccepted(result)) return { kind: 'delivered' }
  if (result.kind === 'answered' && result.status === 410) {
    const endpoint = await lockEndpoint(tx, claim.store_id, { id: claim.id, as: 'no key update' })
    const isEnabled = endpoint?.state === 'enabled'
    if (!isEnabled || endpoint.url === claim.url) return { kind: 'given_up', isGone: isEnabled }
  }
  const waitMs = waitAfterMs(result, { attempts, now: clock.machineNow() }, random())
  return waitMs === undefined
    ? { kind: 'given_up', isGone: false }
    : { kind: 'retried', waitMs: waitMs / haste }
}

type Recorded = { verdict: Verdict; isSettled: boolean }

/**
 * Records the attempt, and settles the delivery if this claim still owns it. Meanwhile the delivery may have been
 * replayed, given up with its endpoint, or claimed by another sender because this attempt took too long. `isSettled` is
 * false if nothing was settled.
 */
async function recordAttempt(deps: DeliveryDeps, claim: Claim, attempted: Attempted): Promise<Recorded> {
  const { result, at, durationMs, attempts } = attempted
  const now = deps.clock.now()
  return deps.db.transaction().execute(async (tx) => {
    const verdict = await judge(tx, deps, { ...attempted, claim })
    await insertAttempt(tx, {
      delivery_id: claim.delivery_id,
      endpoint_id: claim.id,
      attempt: attempts,
      at,
      duration_ms: durationMs,
      status: result.kind === 'answered' ? result.status : null,
      failure: result.kind === 'failed' ? result.reason : null,
      answer: result.kind === 'answered' ? result.text : null,
    })
    const isDone = verdict.kind === 'delivered'
    const isSettled = await settleClaim(tx, claim, {
      attempts,
      last_result: resultText(result),
      state: isDone ? 'delivered' : verdict.kind === 'retried' ? 'due' : 'failed',
      due_at: verdict.kind === 'retried' ? new Date(now.getTime() + verdict.waitMs) : null,
      delivered_at: isDone ? now : null,
    })
    if (verdict.kind === 'given_up' && verdict.isGone) await disableEndpoint(tx, claim.id, 'gone')
    return { verdict, isSettled }
  })
}
