/** Counts running calls, so one address, or one deposit, cannot keep more of them open than it needs. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { createPlaces } from '../kit/places.ts'
import { addressKey } from './limits.ts'
import { refuse } from './refusal.ts'

/** Enough for a shopper with two tabs that both reload before their old calls have ended. */
const OPEN_CALLS_OF_DEPOSIT = 4

/**
 * Refuses a call from an address that has too many open calls. A call is open from the end of its headers until the
 * last byte of its answer is sent or its connection ends.
 */
export function limitCallsOfAddresses(app: FastifyInstance, most: number): void {
  const calls = createPlaces(most)
  app.addHook('onRequest', (request, reply, done) => {
    const key = addressKey(request.ip)
    if (!calls.take(key)) refuse('too_many_requests', { retryAfterS: 1 })
    reply.raw.once('close', () => calls.free(key))
    done()
  })
}

/**
 * Refuses a call about a deposit that has too many running calls. A call counts until its work ends, even if the
 * caller has hung up.
 */
export function limitCallsOfDeposits(
  scope: FastifyInstance,
  hashOf: (request: FastifyRequest) => string | undefined,
): void {
  const calls = createPlaces(OPEN_CALLS_OF_DEPOSIT)
  const counted = new WeakMap<FastifyReply, string>()
  scope.addHook('preHandler', async (request, reply) => {
    const hash = hashOf(request)
    if (hash === undefined) return
    if (!calls.take(hash)) refuse('too_many_requests', { retryAfterS: 1 })
    counted.set(reply, hash)
  })
  scope.addHook('onSend', async (_request, reply) => {
    const hash = counted.get(reply)
    if (hash === undefined) return
    counted.delete(reply)
    calls.free(hash)
  })
}
