/** Keeps profiles for a while: a link that is given again, by anyone, asks Steam nothing. */
import type { ProfileAnswer, Steam } from './steam.ts'

type ReadProfile = Steam['readProfile']

/** A name or a picture that a shopper changes is seen after so long. */
const PROFILE_MS = 5 * 60_000
const UNKNOWN_MS = 60_000
/** Steam gave no answer: whoever presses "try again" is soon answered by Steam again. */
const UNAVAILABLE_MS = 1_000
const MOST_PROFILES = 5_000

const KEPT_MS: Record<ProfileAnswer['kind'], number> = {
  profile: PROFILE_MS,
  unknown_account: UNKNOWN_MS,
  unavailable: UNAVAILABLE_MS,
}

/** Readers of the same account at the same moment share one read. `nowMs`: monotonic milliseconds. */
export function cacheProfiles(read: ReadProfile, nowMs: () => number): ReadProfile {
  const kept = new Map<string, { answer: Promise<ProfileAnswer>; untilMs: number }>()

  const ask = (steamId: string): Promise<ProfileAnswer> => {
    const entry = { answer: read(steamId), untilMs: Number.POSITIVE_INFINITY }
    kept.delete(steamId)
    kept.set(steamId, entry)
    const [oldest] = kept.keys()
    if (kept.size > MOST_PROFILES && oldest !== undefined) kept.delete(oldest)
    entry.answer.then(
      ({ kind }) => {
        entry.untilMs = nowMs() + KEPT_MS[kind]
      },
      () => {
        if (kept.get(steamId) === entry) kept.delete(steamId)
      },
    )
    return entry.answer
  }
  return (steamId) => {
    const known = kept.get(steamId)
    return known !== undefined && nowMs() < known.untilMs ? known.answer : ask(steamId)
  }
}
