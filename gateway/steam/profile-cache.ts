/** Caches profiles for a while, so a repeated link causes no call to Steam. */
import type { ProfileAnswer, Steam } from './steam.ts'

type ReadProfile = Steam['readProfile']

/** How long a changed name or picture may take to appear. */
const PROFILE_MS = 5 * 60_000
/** How long a new account may take to be found. */
const UNKNOWN_MS = 60_000
/** How long a missing answer is cached: only briefly, so "try again" soon reaches Steam. */
const UNAVAILABLE_MS = 1_000
const MOST_PROFILES = 5_000

const KEPT_MS: Record<ProfileAnswer['kind'], number> = {
  profile: PROFILE_MS,
  unknown_account: UNKNOWN_MS,
  unavailable: UNAVAILABLE_MS,
}

/** Concurrent readers of one account share one read. `nowMs`: monotonic milliseconds. */
export function cacheProfiles(read: ReadProfile, nowMs: () => number): ReadProfile {
  const cached = new Map<string, { answer: Promise<ProfileAnswer>; untilMs: number }>()

  const ask = (steamId: string): Promise<ProfileAnswer> => {
    const entry = { answer: read(steamId), untilMs: Number.POSITIVE_INFINITY }
    cached.delete(steamId)
    cached.set(steamId, entry)
    const [oldest] = cached.keys()
    if (cached.size > MOST_PROFILES && oldest !== undefined) cached.delete(oldest)
    entry.answer.then(
      ({ kind }) => {
        entry.untilMs = nowMs() + KEPT_MS[kind]
      },
      () => {
        if (cached.get(steamId) === entry) cached.delete(steamId)
      },
    )
    return entry.answer
  }
  return (steamId) => {
    const known = cached.get(steamId)
    return known !== undefined && nowMs() < known.untilMs ? known.answer : ask(steamId)
  }
}
