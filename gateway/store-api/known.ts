/** Facts that prove a call is not a guess: an existing deposit, or a valid API key. */
import { depositExists } from '../deposits/store.ts'
import type { ViewCache } from '../deposits/view-cache.ts'
import type { Known } from '../http/misses.ts'
import { type AuthDeps, findCaller } from './authenticate.ts'

/** Has no log: `findCaller` would write the warning about an expired key, which belongs to the call itself. */
type KnownDeps = Pick<AuthDeps, 'db' | 'clock' | 'keyMode'> & { views: Pick<ViewCache, 'has'> }

/** Looks a deposit up in the database only if no page is polling it, and a key in any case. */
export function knownTo(deps: KnownDeps): Known {
  return {
    deposit: async (hash) => deps.views.has(hash) || depositExists(deps.db, hash),
    key: async (authorization) => (await findCaller(deps, authorization)) !== undefined,
  }
}
