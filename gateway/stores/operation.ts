/** What a route of the store API says of itself: who may call it, and what its page in the reference tells. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { ErrorCode } from '../../contract/errors.ts'
import type { Scope } from '../../contract/scopes.ts'
import type { Db } from '../db/client.ts'
import { noteStoreCall } from '../http/problem.ts'
import { ProblemError, refuse } from '../http/refusal.ts'
import type { Clock } from '../kit/clock.ts'
import { type Mode, parseApiKey } from './api-key.ts'
import { findStoreByKey, type StoreAccount } from './keys.ts'

export type Operation = {
  /** Name in the OpenAPI document. */
  id: string
  group: 'Deposits' | 'Events' | 'Money' | 'Offerings' | 'Webhook endpoints'
  summary: string
  description?: string
  /** What an answer means, by its status. */
  answers?: Readonly<Record<string, string>>
  /** A body, for the call that the reference shows. */
  example?: object
  /** Without one any key will do. */
  scope?: Scope
  /** Refusals besides those that every call may meet. */
  refusals?: readonly ErrorCode[]
}

declare module 'fastify' {
  interface FastifyContextConfig {
    operation?: Operation
  }
}

export type AuthDeps = {
  db: Db
  clock: Clock
  mode: Mode
  /** Refuses a store that calls too often; asked once the store has proved itself. */
  limitStore(storeId: bigint): void
}

const proved = new WeakMap<FastifyRequest, StoreAccount>()

/** The store that makes the call. Throws outside of routes that ask for a key. */
export function storeOf(request: FastifyRequest): StoreAccount {
  const store = proved.get(request)
  if (store === undefined) throw new Error('this route does not ask for a key')
  return store
}

/** The store of a call that proved itself, for logs. */
export const storeOfAny = (request: FastifyRequest): StoreAccount | undefined => proved.get(request)

const told = new WeakMap<FastifyRequest, string>()

/** Notes which deposit a call is about, where its address does not say so. */
export const noteDeposit = (request: FastifyRequest, depositId: string): void => {
  told.set(request, depositId)
}

/** The deposit that a call is about, for logs. */
export function depositOfAny(request: FastifyRequest): string | undefined {
  const { params, routeOptions } = request
  const isAddressed = routeOptions.url?.startsWith('/v1/deposits/:id') === true
  const id =
    isAddressed && typeof params === 'object' && params !== null ? Reflect.get(params, 'id') : undefined
  return typeof id === 'string' ? id : told.get(request)
}

/**
 * JSON, said to be none where it is: clients that name the type with every call also name it where they send nothing,
 * which a cancel does not need.
 */
export function readBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, text, done) => {
    if (text === '') return done(null, null)
    parse(request, text.toString(), (error, body) => {
      if (error === null) return done(null, body)
      done(new ProblemError('invalid_request', [{ path: '', message: 'the body is not JSON' }]))
    })
  })
}

/** Every route of the scope asks for a key with the right that its operation names. */
export function authenticateCalls(app: FastifyInstance, deps: AuthDeps): void {
  app.addHook('onRequest', async (request) => {
    const given = /^Bearer (\S{1,200})$/.exec(request.headers.authorization ?? '')?.[1]
    const key = given === undefined ? undefined : parseApiKey(given, deps.mode)
    const store = (key && (await findStoreByKey(deps, key))) ?? refuse('unauthorized')
    deps.limitStore(store.id)
    proved.set(request, store)
    noteStoreCall(request, store.keyId)
    const scope = request.routeOptions.config.operation?.scope
    if (scope !== undefined && !store.scopes.includes(scope)) refuse('scope_missing')
  })
}
