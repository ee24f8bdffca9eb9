/** When to retry a refused token, and when to give up on it. Pure. */
import { HOUR_MS, MINUTE_MS } from '../kit/duration.ts'

export type TokenVerdict = { kind: 'again'; at: Date } | { kind: 'dead' }

/**
 * Steam sometimes refuses good tokens. So a token is dead only if Steam still refuses it an hour after the first time.
 * `since`: the time of the first refusal; null if this one is the first.
 */
export function judgeTokenRefusal(since: Date | null, now: Date): TokenVerdict {
  if (since === null) return { kind: 'again', at: new Date(now.getTime() + 5 * MINUTE_MS) }
  const ageMs = now.getTime() - since.getTime()
  if (ageMs >= HOUR_MS) return { kind: 'dead' }
  const againAtMs = now.getTime() + Math.max(5 * MINUTE_MS, ageMs)
  return { kind: 'again', at: new Date(Math.min(againAtMs, since.getTime() + HOUR_MS)) }
}
