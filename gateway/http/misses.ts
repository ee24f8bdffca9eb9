/**
 * Stops guessers. A miss is a call whose path, deposit or key does not exist, or that lacks the token of our page. Each
 * address is allowed a limited number of misses. A caller with an existing deposit or key is not stopped, even if a
 * guesser has the same address, unless too many look-ups are waiting.
 */
import type { FastifyRequest } from 'fastify'
import type { ErrorCode } from '../../contract/errors.ts'
import { hashSchema } from '../../contract/widget-api.ts'
import { createLimiter } from '../kit/limiter.ts'
import type { Limits } from './limits.ts'
import { refuse } from './refusal.ts'

/** Looks up the deposit or key in a call. */
export type CallerLookups = {
  deposit(hash: string): Promise<boolean>
  /** Whether this header holds a valid API key. */
  key(authorization: string): Promise<boolean>
}

type Proof = keyof CallerLookups

export type Misses = {
  /**
   * Undefined if the call may proceed immediately; otherwise a promise that rejects for a guesser. `hash`: the hash of
   * the deposit, if the call's path contains it.
   */
  admit(request: FastifyRequest, proof: Proof, hash?: string): Promise<void> | undefined
  /** Counts an answered call if it was a guess. */
  count(request: FastifyRequest): void
  /** Counts a call of an unknown path, unless it has a valid key. */
  countUnknownPath(request: FastifyRequest): Promise<void>
}

/** Refusals that mark a guess, unless the call has a valid key. Any other refusal can concern a known deposit. */
const GUESSES = new Set<ErrorCode | undefined>([
  'not_found',
  'deposit_not_found',
  'unauthorized',
  'cross_site_token',
])

/** The most look-ups at a time, each with a database connection, and the most that wait for their turn. */
const LOOKUPS_AT_A_TIME = 2
const MOST_WAITING = 200

export function createMisses(limits: Limits, lookups: CallerLookups): Misses {
  const lookUp = createLimiter(LOOKUPS_AT_A_TIME, MOST_WAITING)

  const isKnown = async (request: FastifyRequest, proof: Proof, hash = hashOf(request)): Promise<boolean> => {
    if (lookUp.isFull()) return false
    if (proof === 'key') {
      const { authorization } = request.headers
      return authorization !== undefined && (await lookUp(() => lookups.key(authorization)))
    }
    return hash !== undefined && (await lookUp(() => lookups.deposit(hash)))
  }
  return {
    admit(request, proof, hash) {
      if (limits.mayMiss(request)) return undefined
      return isKnown(request, proof, hash).then((isKnownCaller) => {
        if (!isKnownCaller) refuse('too_many_requests', { retryAfterS: 1 })
      })
    },
    count(request) {
      if (request.call.store === undefined && GUESSES.has(request.call.refusal)) limits.countMiss(request)
    },
    async countUnknownPath(request) {
      if (!(await isKnown(request, 'key'))) limits.countMiss(request)
    },
  }
}

/** The hash of a deposit in a call's query or body. */
export function hashOf(request: FastifyRequest): string | undefined {
  for (const source of [request.query, request.body]) {
    if (typeof source !== 'object' || source === null) continue
    const hash = hashSchema.safeParse(Reflect.get(source, 'hash'))
    if (hash.success) return hash.data
  }
  return undefined
}
