/** Facts that prove a call is not a guess: an existing deposit, or a valid API key. */
import { depositExists } from '../deposits/store.ts'
import type { ViewCache } from '../deposits/view-cache.ts'
import type { CallerLookups } from '../http/misses.ts'
import { type AuthDeps, findCaller } from './authenticate.ts'

type KnownDeps = Pick<AuthDeps, 'db' | 'clock' | 'keyMode'> & { views: Pick<ViewCache, 'has'> }

/** Looks up a deposit in the database only if no page is polling it, but always looks up a key. */
export function createCallerLookups({ db, clock, keyMode, views }: KnownDeps): CallerLookups {
  return {
    deposit: async (hash) => views.has(hash) || depositExists(db, hash),
    // Without a log: the warning about an expired key belongs to the call itself.
    key: async (authorization) => (await findCaller({ db, clock, keyMode }, authorization)) !== undefined,
  }
}
