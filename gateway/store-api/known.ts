/** Names that prove a call no guess: a deposit, or an API key. */
import { depositExists } from '../deposits/store.ts'
import type { ViewCache } from '../deposits/view-cache.ts'
import type { Known } from '../http/misses.ts'
import { type AuthDeps, findCaller } from './authenticate.ts'

type KnownDeps = Pick<AuthDeps, 'db' | 'clock' | 'keyMode'> & { views: Pick<ViewCache, 'knows'> }

/** Asks the database only for what no page polls. */
export function knownTo(deps: KnownDeps): Known {
  return {
    deposit: async (hash) => deps.views.knows(hash) || depositExists(deps.db, hash),
    key: async (authorization) => {
      const { db, clock, keyMode } = deps
      return (await findCaller({ db, clock, keyMode }, authorization)) !== undefined
    },
  }
}
