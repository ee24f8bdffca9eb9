/** Facts that prove a call is not a guess: an existing deposit, or a valid API key. */
import { depositExists } from '../deposits/store.ts'
import type { ViewCache } from '../deposits/view-cache.ts'
import type { Known } from '../http/misses.ts'
import { type AuthDeps, findCaller } from './authenticate.ts'

type KnownDeps = Pick<AuthDeps, 'db' | 'clock' | 'keyMode'> & { views: Pick<ViewCache, 'has'> }

/** Asks the database only if no page is polling the deposit. */
export function knownTo(deps: KnownDeps): Known {
  return {
    deposit: async (hash) => deps.views.has(hash) || depositExists(deps.db, hash),
    key: async (authorization) => {
      const { db, clock, keyMode } = deps
      return (await findCaller({ db, clock, keyMode }, authorization)) !== undefined
    },
  }
}
