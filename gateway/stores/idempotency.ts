/** A call that carries an Idempotency-Key happens once; repeated, it gets the answer it got before. */
import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Db } from '../db/client.ts'
import { inTransaction } from '../db/transaction.ts'
import { refuse } from '../http/refusal.ts'
import type { TillClock } from '../kit/clock.ts'
import type { SecretBox } from '../kit/secret-box.ts'
import { noteDeposit, storeOf, storeOfAny } from './operation.ts'

export type IdempotencyDeps = { db: Db; clock: TillClock; box: SecretBox }

const KEPT_MS = 48 * 3_600_000
/** Longer than any call may last; by the machine's clock, which no jump of the till's moves. */
const LOCK_MS = 30_000

type Claim = { storeId: bigint; key: string }

const claims = new WeakMap<FastifyRequest, Claim>()

/** For the POST routes of the scope; the store is known by then. */
export function repeatCalls(app: FastifyInstance, deps: IdempotencyDeps): void {
  app.addHook('preHandler', async (request, reply) => {
    const key = request.headers['idempotency-key']
    if (request.method !== 'POST' || key === undefined) return
    if (typeof key !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(key)) {
      refuse('invalid_request', [
        { path: 'Idempotency-Key', message: 'must be 1 to 255 visible ASCII characters' },
      ])
    }
    const claim = { storeId: storeOf(request).id, key }
    const before = await claimKey(deps, claim, fingerprint(request))
    if (before === undefined) {
      claims.set(request, claim)
      return
    }
    noteRepeated(request, before)
    return give(reply, before)
  })
  app.addHook('onSend', async (request, reply, payload) => {
    const claim = claims.get(request)
    if (claim === undefined || storeOfAny(request) === undefined) return
    claims.delete(request)
    await keep(deps, claim, { status: reply.statusCode, body: typeof payload === 'string' ? payload : '' })
  })
}

type Answer = { status: number; body: string }

const openedSchema = z.object({ id: z.string() })

/** The log tells of a repeated creation which deposit it is about, as it does of the first one. */
function noteRepeated(request: FastifyRequest, { status, body }: Answer): void {
  if (request.routeOptions.config.operation?.id !== 'createDeposit' || status >= 300) return
  noteDeposit(request, openedSchema.parse(JSON.parse(body)).id)
}

function give(reply: FastifyReply, { status, body }: Answer): FastifyReply {
  const type = status < 400 ? 'application/json; charset=utf-8' : 'application/problem+json; charset=utf-8'
  return reply
    .code(status)
    .header('idempotency-replayed', 'true')
    .header('content-type', type)
    .serializer((text: unknown) => String(text))
    .send(body)
}

function fingerprint(request: FastifyRequest): Buffer {
  const body = JSON.stringify(request.body ?? null)
  return createHash('sha256').update(`${request.method} ${request.url}\n${body}`).digest()
}

/** Undefined when the call is the first one and may go on; the answer of the first one when it has ended. */
async function claimKey(
  { db, clock, box }: IdempotencyDeps,
  { storeId, key }: Claim,
  request: Buffer,
): Promise<Answer | undefined> {
  const now = clock.now()
  const machineNow = clock.machineNow()
  const lock = { locked_until: new Date(machineNow.getTime() + LOCK_MS) }
  const fresh = { request_sha256: request, created_at: now, status: null, answer: null, ...lock }
  return inTransaction(db, async (tx): Promise<Answer | undefined> => {
    const inserted = await tx
      .insertInto('idempotency_key')
      .values({ store_id: storeId, key, ...fresh })
      .onConflict((conflict) => conflict.columns(['store_id', 'key']).doNothing())
      .returning('key')
      .executeTakeFirst()
    if (inserted !== undefined) return undefined
    const row = await tx
      .selectFrom('idempotency_key')
      .selectAll()
      .where('store_id', '=', storeId)
      .where('key', '=', key)
      .forUpdate()
      .executeTakeFirst()
    // Forgotten by the sweep between the two statements: the caller repeats it.
    if (row === undefined) return refuse('idempotency_in_progress', { retryAfterS: 1 })
    const take = async (): Promise<undefined> => {
      await tx
        .updateTable('idempotency_key')
        .set(fresh)
        .where('store_id', '=', storeId)
        .where('key', '=', key)
        .execute()
    }
    if (now.getTime() - row.created_at.getTime() >= KEPT_MS) return take()
    if (!row.request_sha256.equals(request)) return refuse('idempotency_key_reused')
    if (row.status !== null && row.answer !== null) {
      return { status: row.status, body: box.open(row.answer, placeOf({ storeId, key })) }
    }
    if (row.locked_until !== null && row.locked_until > machineNow) {
      return refuse('idempotency_in_progress', { retryAfterS: 1 })
    }
    return take()
  })
}

/** Our own failures are not kept: the call may be tried again. */
async function keep({ db, box }: IdempotencyDeps, claim: Claim, { status, body }: Answer): Promise<void> {
  const { storeId, key } = claim
  if (status >= 500 || status === 429) {
    await db.deleteFrom('idempotency_key').where('store_id', '=', storeId).where('key', '=', key).execute()
    return
  }
  await db
    .updateTable('idempotency_key')
    .set({ status, answer: box.seal(body, placeOf(claim)), locked_until: null })
    .where('store_id', '=', storeId)
    .where('key', '=', key)
    .execute()
}

const placeOf = ({ storeId, key }: Claim): string => `idempotency_key:${storeId}:${key}:answer`

/** Forgets answers whose time is over. */
export async function sweepIdempotency({ db, clock }: Pick<IdempotencyDeps, 'db' | 'clock'>): Promise<void> {
  const before = new Date(clock.now().getTime() - KEPT_MS)
  await db.deleteFrom('idempotency_key').where('created_at', '<', before).execute()
}
