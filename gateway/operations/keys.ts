/** API keys of stores. A key is shown once; its id is the eight characters after its prefix. */
import type { Scope } from '../../contract/scopes.ts'
import { readDuration } from '../kit/duration.ts'
import {
  addKey as addStoreKey,
  type KeyFacts,
  listKeys as listStoreKeys,
  revokeKey as revokeStoreKey,
  rotateKey as rotateStoreKey,
} from '../stores/keys.ts'
import { act } from './act.ts'
import { type ActDeps, type Answer, done, type FindDeps, refused } from './operation.ts'
import { findStore } from './store.ts'
import { noStore, unknownStore } from './store-check.ts'

export type FreshKey = { keyId: string; apiKey: string }

export type NewKey = {
  storeId: bigint
  name: string
  scopes: readonly Scope[]
  /** Lifetime, such as `90d`; undefined means until it is revoked. */
  expires: string | undefined
}

const MOST_NAME_CHARACTERS = 80
const MOST_LIFETIME_S = 3_650 * 86_400
const INVALID_LIFETIME = refused('usage', 'The lifetime must be a duration such as 90d, at most 3650 days.')

export type KeyList = { keys: (Omit<KeyFacts, 'id'> & { keyId: string })[] }

/** Lists the keys of a store, including revoked ones, oldest first. */
export async function listKeys({ db, clock }: FindDeps, storeId: bigint): Promise<Answer<KeyList>> {
  const unknown = await unknownStore(db, storeId)
  if (unknown !== undefined) return unknown
  const keys = await listStoreKeys(db, storeId, clock.now())
  return done({ keys: keys.map(({ id, ...key }) => ({ keyId: id, ...key })) })
}

export function addKey(
  deps: ActDeps,
  { storeId, name, scopes, expires: lifetime }: NewKey,
): Promise<Answer<FreshKey>> {
  const argumentsOf = ({ keyId }: FreshKey) => ({ keyId, storeId, name, scopes, expires: lifetime })
  return act(deps, { name: 'key add', argumentsOf }, async (tx) => {
    if (name.length < 1 || name.length > MOST_NAME_CHARACTERS) {
      return refused('usage', `The name must have 1 to ${MOST_NAME_CHARACTERS} characters.`)
    }
    // Null means that the key has no end; undefined, that the lifetime is not a duration.
    const lifetimeS = lifetime === undefined ? null : readDuration(lifetime)
    if (lifetimeS === undefined || (lifetimeS ?? 0) > MOST_LIFETIME_S) return INVALID_LIFETIME
    if ((await findStore(tx, storeId)) === undefined) {
      return noStore(storeId)
    }
    const { mode } = deps.config
    const newKey = { storeId, name, scopes: [...new Set(scopes)], lifetimeS }
    return done(freshKey(await addStoreKey(tx, { mode, clock: deps.clock }, newKey)))
  })
}

type Rotation = { keyId: string; overlapHours: number }

/**
 * The new key has the old one's name, scopes and lifetime. The old key works for `overlapHours` more, unless it expires
 * sooner.
 */
export function rotateKey(
  deps: ActDeps,
  { keyId: replaced, overlapHours }: Rotation,
): Promise<Answer<FreshKey>> {
  const argumentsOf = ({ keyId }: FreshKey) => ({ keyId, replaced, overlapHours })
  return act(deps, { name: 'key rotate', argumentsOf }, async (tx) => {
    const { mode } = deps.config
    const key = await rotateStoreKey({ db: tx, mode, clock: deps.clock }, replaced, overlapHours)
    if (key === undefined) return refused('not_found', 'There is no active key with this id: see store show.')
    return done(freshKey(key))
  })
}

export function revokeKey(deps: ActDeps, keyId: string): Promise<Answer<{ keyId: string }>> {
  const namedAct = { name: 'key revoke', needsReason: true, argumentsOf: () => ({ keyId }) }
  return act(deps, namedAct, async (tx) => {
    if (!(await revokeStoreKey({ db: tx, clock: deps.clock }, keyId))) {
      return refused('not_found', 'There is no active key with this id: see store show.')
    }
    return done({ keyId }, `Key ${keyId} no longer works.`)
  })
}

const freshKey = (apiKey: string): FreshKey => ({ keyId: apiKey.split('_')[2] ?? '', apiKey })
