import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { storeDepositSchema } from '../../contract/store-api.ts'
import { boundedJson } from '../http/json-body.ts'
import { ProblemError } from '../http/refusal.ts'
import { createFairLimiter, type FairLimiter } from '../kit/limiter.ts'
import { authenticate, storeOf } from './authenticate.ts'
import type { StoreApiDeps } from './deps.ts'
import { keepAnswers, repeatedAnswer, sendRepeated } from './idempotency.ts'
import type { Operation } from './operation.ts'
import { referenceRoutes } from './reference.ts'
import { OPERATIONS } from './table.ts'

export function storeRoutes(deps: StoreApiDeps): FastifyPluginAsync {
  return async (app) => {
    // The calls have a context of their own, because their hook and body parser must not apply to the reference.
    await app.register(async (calls) => {
      readBodies(calls)
      keepAnswers(calls, deps)
      const turns = createFairLimiter(CALLS_AT_A_TIME)
      for (const operation of OPERATIONS) addRoute(calls, deps, { operation, turns })
    })
    await app.register(referenceRoutes(OPERATIONS, deps.publicUrl))
  }
}

/**
 * How many calls of one store (`ofKey`) this process works on at a time: half as many as it has connections to the
 * database. A store may make 120 calls at once, and a page of large deposits needs its connection for a while.
 */
const CALLS_AT_A_TIME = { inAll: Number.POSITIVE_INFINITY, ofKey: 5 }

type Route = { operation: Operation; turns: FairLimiter }

function addRoute(app: FastifyInstance, deps: StoreApiDeps, { operation, turns }: Route): void {
  const { method, path, scope, idempotent = false, atATime } = operation
  // The key is the store's id.
  const ownTurns = atATime && createFairLimiter({ inAll: atATime.inAll, ofKey: atATime.ofStore })
  app.route({
    method,
    url: path,
    onRequest: async (request) => {
      if (path.startsWith('/v1/deposits/:id')) request.call.depositId = paramsSchema.parse(request.params).id
      await authenticate(deps, request, scope)
    },
    handler: async (request, reply) => {
      const { id } = storeOf(request)
      const { values, perform } = operation.prepare(deps, storeOf(request), request)
      if (method !== 'GET') deps.limitBytes(id, Buffer.byteLength(JSON.stringify(values)))
      const work = async () => {
        const earlier = idempotent ? await repeatedAnswer(deps, request, values) : undefined
        // Checked when the read's turn comes, because the bytes of the reads before it are known only then.
        if (method === 'GET') deps.limitReads(id)
        const answer = earlier ?? (await perform())
        if (method === 'GET') deps.countRead(id, Buffer.byteLength(answer.text))
        return { repeated: earlier, answer }
      }
      const inTurn = () => turns(String(id), work)
      const { repeated, answer } = await (ownTurns === undefined ? inTurn() : ownTurns(String(id), inTurn))
      noteDeposit(request, operation, answer)
      if (repeated !== undefined) return sendRepeated(reply, repeated)
      return reply.code(answer.status).type('application/json; charset=utf-8').send(answer.text)
    },
  })
}

const paramsSchema = z.object({ id: z.string() })

/** Keeps the id of the answer's deposit for the log line, however the call named the deposit. */
function noteDeposit(
  { call }: FastifyRequest,
  { answer }: Operation,
  { status, text }: { status: number; text: string },
): void {
  if (answer === storeDepositSchema && status < 300) call.depositId = paramsSchema.parse(JSON.parse(text)).id
}

/** Accepts an empty body of any type, because some clients send a type even with a cancel, which has no body. */
function readBodies(app: FastifyInstance): void {
  const parse = boundedJson(app)
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, bytes: Buffer, done) => {
    if (bytes.length === 0) return done(null, null)
    parse(request, bytes, (error, body) => {
      if (error === null) return done(null, body)
      const refusal = error instanceof ProblemError ? error : undefined
      const message = 'the body is not JSON, or has the key __proto__'
      done(refusal ?? new ProblemError('invalid_request', [{ path: '', message }]))
    })
  })
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, bytes: Buffer, done) => {
    if (bytes.length === 0) done(null, null)
    else done(new ProblemError('unsupported_media_type'))
  })
}
