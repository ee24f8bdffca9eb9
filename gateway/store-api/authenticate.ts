/** Authenticates calls of stores. Each needs an API key, which must have the operation's scope, if any. */
import type { FastifyRequest } from 'fastify'
import type { Scope } from '../../contract/scopes.ts'
import type { Db } from '../db/client.ts'
import type { CallingStore } from '../http/call.ts'
import { refuse } from '../http/refusal.ts'
import type { Clock } from '../kit/clock.ts'
import type { Log } from '../kit/log.ts'
import { type Mode, parseApiKey } from '../stores/api-key.ts'
import { findStoreByKey } from '../stores/keys.ts'

export type AuthDeps = {
  db: Db
  clock: Clock
  /**
   * Whether the accepted keys are test keys or live keys. In a public sandbox, keys are test keys, although webhooks
   * follow the rules of live mode.
   */
  keyMode: Mode
  log: Log
  /** Refuses a store that calls too often. Runs after authentication, unless the call was counted before it. */
  limitStore(storeId: bigint): void
}

/** Finds the store of the call. Refuses a call without a valid key, or with a key that lacks `scope`. */
export async function authenticate(
  deps: AuthDeps,
  { call, headers }: FastifyRequest,
  scope: Scope | undefined,
): Promise<void> {
  const store = (await findCaller(deps, headers.authorization)) ?? refuse('unauthorized')
  if (call.countedStoreId !== store.id) deps.limitStore(store.id)
  call.store = store
  if (scope !== undefined && !store.scopes.includes(scope)) refuse('scope_missing', { asked: scope })
}

export async function findCaller(
  deps: Pick<AuthDeps, 'db' | 'clock' | 'keyMode'> & { log?: Log },
  authorization = '',
): Promise<CallingStore | undefined> {
  // One space or more (RFC 9110, 11.4): the setting with the key may begin with one.
  const givenKey = /^Bearer +(\S{1,200})$/i.exec(authorization)?.[1]
  const key = givenKey === undefined ? undefined : parseApiKey(givenKey, deps.keyMode)
  return key && findStoreByKey(deps, key)
}

export function storeOf({ call }: FastifyRequest): CallingStore {
  if (call.store === undefined) throw new Error('this route does not authenticate its callers')
  return call.store
}
