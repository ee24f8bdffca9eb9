/** Counts running calls, so one address, or one deposit, cannot keep more of them open than it needs. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { addressKey } from './limits.ts'
import { refuse } from './refusal.ts'

/** Enough for a shopper with two tabs that both reload before their old calls have ended. */
const OPEN_CALLS_OF_DEPOSIT = 4

type OpenCalls = {
  /** Counts a call and returns true, or returns false if `key` has reached its limit. */
  begin(key: string): boolean
  end(key: string): void
}

function createOpenCalls(most: number): OpenCalls {
  const counts = new Map<string, number>()
  return {
    begin: (key) => {
      const others = counts.get(key) ?? 0
      if (others >= most) return false
      counts.set(key, others + 1)
      return true
    },
    end: (key) => {
      const left = (counts.get(key) ?? 0) - 1
      if (left > 0) counts.set(key, left)
      else counts.delete(key)
    },
  }
}

/**
 * Refuses a call from an address that has too many open calls. A call is open from the end of its headers until the
 * last byte of its answer is sent or its connection ends.
 */
export function limitCallsOfAddresses(app: FastifyInstance, most: number): void {
  const calls = createOpenCalls(most)
  app.addHook('onRequest', (request, reply, done) => {
    const key = addressKey(request.ip)
    if (!calls.begin(key)) refuse('too_many_requests', { retryAfterS: 1 })
    reply.raw.once('close', () => calls.end(key))
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
  const calls = createOpenCalls(OPEN_CALLS_OF_DEPOSIT)
  const counted = new WeakMap<FastifyReply, string>()
  scope.addHook('preHandler', async (request, reply) => {
    const hash = hashOf(request)
    if (hash === undefined) return
    if (!calls.begin(hash)) refuse('too_many_requests', { retryAfterS: 1 })
    counted.set(reply, hash)
  })
  scope.addHook('onSend', async (_request, reply) => {
    const hash = counted.get(reply)
    if (hash === undefined) return
    counted.delete(reply)
    calls.end(hash)
  })
}
