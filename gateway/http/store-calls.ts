/** Limits the calls of stores before the database is asked about their keys. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { sha256 } from '../kit/sha256.ts'
import type { Limits } from './limits.ts'

/** More than the keys of all stores. Beyond it all are forgotten, and each is learned again with its next call. */
const MOST_KEYS = 10_000

/**
 * A call whose key was accepted the last time counts against its store, any other against its address. Several stores
 * can have one address, for example at one host, and a store that calls too often must not use up its neighbours'
 * calls.
 */
export function limitCallsOfStores(
  scope: FastifyInstance,
  limits: Pick<Limits, 'limitChanges' | 'limitStore'>,
): void {
  const storeOfKey = new Map<string, bigint>()
  scope.addHook('onRequest', async (request) => {
    const storeId = storeOfKey.get(keyOf(request))
    if (storeId === undefined) return limits.limitChanges(request)
    limits.limitStore(storeId)
    request.call.countedStoreId = storeId
  })
  scope.addHook('onSend', async (request) => {
    const { store, countedStoreId, refusal } = request.call
    if (refusal === 'unauthorized') storeOfKey.delete(keyOf(request))
    // The key of a call that counted against its store is known already.
    if (store === undefined || store.id === countedStoreId) return
    if (storeOfKey.size >= MOST_KEYS) storeOfKey.clear()
    storeOfKey.set(keyOf(request), store.id)
  })
}

/** A hash, because keys must not stay in memory. */
const keyOf = ({ headers }: FastifyRequest): string => sha256(headers.authorization ?? '').toString('base64')
