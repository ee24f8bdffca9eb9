/** The facts about a call that its hooks and its handler pass on to each other, to its refusal and to the log. */
import type { FastifyInstance } from 'fastify'
import type { ErrorCode } from '../../contract/errors.ts'
import type { Scope } from '../../contract/scopes.ts'

/** A store that was authenticated by an API key. */
export type CallingStore = {
  id: bigint
  name: string
  origins: string[]
  keyId: string
  scopes: readonly Scope[]
}

export type Call = {
  /**
   * Set once the store is authenticated and within its limit of calls. Refusals are then written for its developer, not
   * for a shopper.
   */
  store: CallingStore | undefined
  /** The store whose limit of calls has counted the call already, before its key was looked up. */
  countedStoreId: bigint | undefined
  /** The deposit that a store's call is about. */
  depositId: string | undefined
  /** The deposit of a framed page, proved by its token. */
  framedHash: string | undefined
  /** The code of the call's refusal. */
  refusal: ErrorCode | undefined
}

declare module 'fastify' {
  interface FastifyRequest {
    call: Call
  }
}

/** Gives every request of `app` its call. Must be registered before any other hook. */
export function attachCalls(app: FastifyInstance): void {
  app.decorateRequest('call')
  app.addHook('onRequest', (request, _reply, done) => {
    request.call = {
      store: undefined,
      countedStoreId: undefined,
      depositId: undefined,
      framedHash: undefined,
      refusal: undefined,
    }
    done()
  })
}
