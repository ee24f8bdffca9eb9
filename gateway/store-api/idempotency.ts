/**
 * Runs a call with an Idempotency-Key once. A repeated call gets the first answer, unless that was a failure of the
 * till or asked to call again.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Db } from '../db/client.ts'
import { inTransaction } from '../db/transaction.ts'
import { refuse } from '../http/refusal.ts'
import { canonicalJson } from '../kit/canonical-json.ts'
import type { Clock } from '../kit/clock.ts'
import type { Log } from '../kit/log.ts'
import { repeat } from '../kit/repeat.ts'
import type { SecretBox } from '../kit/secret-box.ts'
import { sha256 } from '../kit/sha256.ts'
import { storeOf } from './authenticate.ts'
import {
  deleteKey,
  deleteKeysBefore,
  insertKey,
  type KeyLock,
  keepAnswer,
  type LockedKey,
  lockKey,
  renewKey,
  type StoreKey,
  takeKey,
} from './idempotency-store.ts'

export type IdempotencyDeps = {
  db: Db
  clock: Clock
  box: SecretBox
  log: Log
  /** How often a running call renews the lock of its key. */
  renewKeysMs?: number
}

/** How long an answer is kept. */
const KEPT_MS = 48 * 3_600_000
/** Short enough to renew a lock twice before it ends. */
const RENEW_MS = 10_000
/** Enough for every call. Without this limit, a hanging call would keep its key forever. */
const MOST_RENEWALS = 60

type Answer = { status: number; text: string }
/**
 * The result of a call. `isTemporary`: whether the answer asks to call again later. `depositId`: the deposit that the
 * call concerns, whose shopper the answer may name.
 */
type Ended = Answer & { isTemporary: boolean; depositId: bigint | null }

/** The renewals of the keys of running calls. */
const renewalOf = new WeakMap<FastifyRequest, KeyRenewal>()

/**
 * Returns the stored answer to a call with this key; undefined if the call has no key or must run. The key of a call that
 * must run stays locked until its answer is sent. Refuses a malformed key, and one that a running call holds or that
 * belongs to another request.
 */
export async function repeatedAnswer(
  deps: IdempotencyDeps,
  request: FastifyRequest,
  values: object,
): Promise<Answer | undefined> {
  const key = request.headers['idempotency-key']
  if (key === undefined) return undefined
  if (typeof key !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(key)) {
    refuse('invalid_request', [
      { path: 'Idempotency-Key', message: 'must be 1 to 255 visible ASCII characters' },
    ])
  }
  const storeKey = { storeId: storeOf(request).id, key }
  const claim = await claimKey(deps, storeKey, fingerprints(deps.box, request, values))
  if (typeof claim !== 'string') return claim
  renewalOf.set(request, renewUntilEnd(deps, { ...storeKey, lock: claim }, request.id))
  return undefined
}

/**
 * Stores the answers of `app` to calls that hold a key, including refusals, but not failures of the till or answers
 * that ask to call again.
 */
export function keepAnswers(app: FastifyInstance, deps: IdempotencyDeps): void {
  app.addHook('onSend', async (request, reply, payload) => {
    const renewal = renewalOf.get(request)
    if (renewal === undefined) return
    renewalOf.delete(request)
    const text = typeof payload === 'string' ? payload : ''
    const isTemporary = reply.hasHeader('retry-after')
    const { id: requestId, call } = request
    const depositId = call.depositId === undefined ? null : BigInt(call.depositId)
    const endedCall = { status: reply.statusCode, text, isTemporary, depositId }
    try {
      const isKept = await storeOrRelease(deps, await renewal.end(), endedCall)
      if (!isKept)
        deps.log.error({ requestId }, 'idempotency key of a running call was taken over by another call')
    } catch (error) {
      // The call may have taken effect. Answer it even if the answer cannot be stored.
      deps.log.error({ err: error, requestId }, 'answer under an idempotency key could not be stored')
    }
  })
}

type KeyRenewal = {
  /** Stops renewing and resolves to the key with its last lock. */
  end(): Promise<LockedKey>
}

/** Renews the lock while its call runs, at most `MOST_RENEWALS` times, so no other call with the key starts. */
function renewUntilEnd(
  { db, log, renewKeysMs: everyMs = RENEW_MS }: IdempotencyDeps,
  first: LockedKey,
  requestId: string,
): KeyRenewal {
  let key = first
  let renewals = 0
  const renewing = repeat({ name: 'lock of an idempotency key', everyMs, log, atOnce: false }, async () => {
    renewals += 1
    if (renewals <= MOST_RENEWALS) key = { ...key, lock: (await renewKey(db, key)) ?? key.lock }
    else if (renewals === MOST_RENEWALS + 1)
      log.error({ requestId }, 'idempotency key of a hanging call is no longer renewed')
  })
  return {
    async end() {
      await renewing.stop()
      return key
    },
  }
}

export function sendRepeated(reply: FastifyReply, { status, text }: Answer): FastifyReply {
  const type = status < 400 ? 'application/json; charset=utf-8' : 'application/problem+json; charset=utf-8'
  return reply
    .code(status)
    .header('idempotency-replayed', 'true')
    .header('content-type', type)
    .serializer((body: unknown) => String(body))
    .send(text)
}

type Fingerprints = readonly [Buffer, ...Buffer[]]

/**
 * Returns hashes of the call, to recognise its repetition. The first one is stored. It is an HMAC, because a call can
 * hold a trade link: whoever has a copy of the database could otherwise find its short token by trying. The rows of an
 * earlier version have the last one.
 */
function fingerprints(box: SecretBox, { method, url }: FastifyRequest, values: object): Fingerprints {
  const textOf = (json: string) => `${method} ${url}\n${json}`
  return [...box.hmacs(textOf(canonicalJson(values))), sha256(textOf(JSON.stringify(values)))]
}

/** Returns the lock of the key if the call may continue, otherwise the answer of the first call. */
async function claimKey(
  { db, clock, box }: IdempotencyDeps,
  storeKey: StoreKey,
  known: Fingerprints,
): Promise<KeyLock | Answer> {
  const now = clock.now()
  const startingCall = { requestSha256: known[0], at: now }
  return inTransaction(db, async (tx): Promise<KeyLock | Answer> => {
    const inserted = await insertKey(tx, storeKey, startingCall)
    if (inserted !== undefined) return inserted
    const row = await lockKey(tx, storeKey)
    // The row was deleted between the two statements, so the caller must try again.
    if (row === undefined) return refuse('idempotency_in_progress', { retryAfterS: 1 })
    const isExpired = now.getTime() - row.created_at.getTime() >= KEPT_MS
    const isSameCall = known.some((hash) => hash.equals(row.request_sha256))
    if (!isExpired && !isSameCall) return refuse('idempotency_key_reused')
    if (row.is_locked) return refuse('idempotency_in_progress', { retryAfterS: 1 })
    if (!isExpired && row.status !== null && row.answer !== null) {
      return { status: row.status, text: box.open(row.answer, placeOf(storeKey)) }
    }
    return takeKey(tx, storeKey, startingCall)
  })
}

/**
 * Stores the answer. After a failure of the till or a temporary refusal, releases the key instead, so the next call
 * with it runs. Resolves to false if another call has taken over the key.
 */
function storeOrRelease(
  { db, box }: IdempotencyDeps,
  key: LockedKey,
  { status, text, isTemporary, depositId }: Ended,
): Promise<boolean> {
  if (status >= 500 || status === 429 || isTemporary) return deleteKey(db, key)
  return keepAnswer(db, key, { status, answer: box.seal(text, placeOf(key)), deposit_id: depositId })
}

const placeOf = ({ storeId, key }: StoreKey): string => `idempotency_key:${storeId}:${key}:answer`

export async function sweepIdempotency({ db, clock }: Pick<IdempotencyDeps, 'db' | 'clock'>): Promise<void> {
  await deleteKeysBefore(db, new Date(clock.now().getTime() - KEPT_MS))
}
