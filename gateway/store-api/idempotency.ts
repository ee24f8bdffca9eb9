/** A call with an Idempotency-Key happens once. Repeated, it gets the answer of the first one. */
import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Db } from '../db/client.ts'
import { inTransaction } from '../db/transaction.ts'
import { refuse } from '../http/refusal.ts'
import type { TillClock } from '../kit/clock.ts'
import type { Log } from '../kit/log.ts'
import type { SecretBox } from '../kit/secret-box.ts'
import { storeOf } from './authenticate.ts'
import {
  deleteKey,
  deleteKeysBefore,
  insertKey,
  keepAnswer,
  lockKey,
  type StoreKey,
  takeKey,
} from './idempotency-store.ts'

export type IdempotencyDeps = { db: Db; clock: TillClock; box: SecretBox; log: Log }

const KEPT_MS = 48 * 3_600_000
/** Longer than any call may last. By the machine's clock: an advance of the till must not end it. */
const LOCK_MS = 30_000

type Answer = { status: number; text: string }
/** The end of a call; `isPassing`: it said when to call again. */
type Ended = Answer & { isPassing: boolean }

/** The answer of the first call with this key; undefined if this is the first one, or if it has no key. */
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
  const own = { storeId: storeOf(request).id, key }
  const before = await claimKey(deps, own, fingerprint(request, values))
  if (before === undefined) request.call.idempotencyKey = key
  return before
}

/** Keeps the answers of `app` to calls that hold a key, refusals included, but for those that say "again later". */
export function keepAnswers(app: FastifyInstance, deps: IdempotencyDeps): void {
  app.addHook('onSend', async ({ call, id }, reply, payload) => {
    const { idempotencyKey: key, store } = call
    if (key === undefined || store === undefined) return
    call.idempotencyKey = undefined
    const text = typeof payload === 'string' ? payload : ''
    const isPassing = reply.hasHeader('retry-after')
    const ended = { status: reply.statusCode, text, isPassing }
    // The call has had its effect by now. Its caller must hear of it, also where nobody can write that down.
    await keep(deps, { storeId: store.id, key }, ended).catch((error: unknown) =>
      deps.log.error({ err: error, requestId: id }, 'the answer under an idempotency key could not be kept'),
    )
  })
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

function fingerprint({ method, url }: FastifyRequest, values: object): Buffer {
  return createHash('sha256')
    .update(`${method} ${url}\n${JSON.stringify(values)}`)
    .digest()
}

/** Undefined if the call may go on, else the answer of the first one. */
async function claimKey(
  { db, clock, box }: IdempotencyDeps,
  own: StoreKey,
  requestSha256: Buffer,
): Promise<Answer | undefined> {
  const now = clock.now()
  const machineNow = clock.machineNow()
  const begun = { requestSha256, at: now, lockedUntil: new Date(machineNow.getTime() + LOCK_MS) }
  return inTransaction(db, async (tx): Promise<Answer | undefined> => {
    if (await insertKey(tx, own, begun)) return undefined
    const row = await lockKey(tx, own)
    // The sweep deleted it between the two statements: the caller repeats it.
    if (row === undefined) return refuse('idempotency_in_progress', { retryAfterS: 1 })
    const isOver = now.getTime() - row.created_at.getTime() >= KEPT_MS
    if (!isOver) {
      if (!row.request_sha256.equals(requestSha256)) return refuse('idempotency_key_reused')
      if (row.status !== null && row.answer !== null) {
        return { status: row.status, text: box.open(row.answer, placeOf(own)) }
      }
      if (row.locked_until !== null && row.locked_until > machineNow) {
        return refuse('idempotency_in_progress', { retryAfterS: 1 })
      }
    }
    await takeKey(tx, own, begun)
    return undefined
  })
}

/** Our own failures are not kept, nor what passes: the next call with this key is carried out. */
async function keep(
  { db, box }: IdempotencyDeps,
  own: StoreKey,
  { status, text, isPassing }: Ended,
): Promise<void> {
  if (status >= 500 || status === 429 || isPassing) await deleteKey(db, own)
  else await keepAnswer(db, own, { status, answer: box.seal(text, placeOf(own)) })
}

const placeOf = ({ storeId, key }: StoreKey): string => `idempotency_key:${storeId}:${key}:answer`

/** Deletes answers that were kept long enough. */
export async function sweepIdempotency({ db, clock }: Pick<IdempotencyDeps, 'db' | 'clock'>): Promise<void> {
  await deleteKeysBefore(db, new Date(clock.now().getTime() - KEPT_MS))
}
