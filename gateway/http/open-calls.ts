/** Calls under way, counted: one address, or one deposit, cannot hold more of them open than it needs. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { addressKey } from './limits.ts'
import { refuse } from './refusal.ts'

/** A shopper with a second tab open, whose page reloads while the old call has not ended yet. */
const OPEN_CALLS_OF_DEPOSIT = 4

type OpenCalls = {
  /** False, and counts nothing, if `key` has as many open calls as it may. */
  begin(key: string): boolean
  end(key: string): void
}

function createOpenCalls(most: number): OpenCalls {
  const open = new Map<string, number>()
  return {
    begin: (key) => {
      const others = open.get(key) ?? 0
      if (others >= most) return false
      open.set(key, others + 1)
      return true
    },
    end: (key) => {
      const left = (open.get(key) ?? 0) - 1
      if (left > 0) open.set(key, left)
      else open.delete(key)
    },
  }
}

/** Refuses a call of an address that has too many others open, from their first header to the last byte of the answer. */
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
 * Refuses a call about a deposit that has too many others under way. It ends with its work: a caller that hangs up early
 * still counts while a bot is waited for.
 */
export function limitCallsOfDeposits(
  scope: FastifyInstance,
  hashOf: (request: FastifyRequest) => string | undefined,
): void {
  const calls = createOpenCalls(OPEN_CALLS_OF_DEPOSIT)
  const held = new WeakMap<FastifyReply, string>()
  scope.addHook('preHandler', async (request, reply) => {
    const hash = hashOf(request)
    if (hash === undefined) return
    if (!calls.begin(hash)) refuse('too_many_requests', { retryAfterS: 1 })
    held.set(reply, hash)
  })
  scope.addHook('onSend', async (_request, reply) => {
    const hash = held.get(reply)
    if (hash === undefined) return
    held.delete(reply)
    calls.end(hash)
  })
}
