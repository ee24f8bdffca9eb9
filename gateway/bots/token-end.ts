/** How soon a bot's refresh token expires. Pure. */
import { DAY_MS } from '../kit/duration.ts'

/** How long before its expiry a token should be renewed. */
export const TOKEN_SOON_MS = 30 * DAY_MS
const TOKEN_LAST_MS = 7 * DAY_MS

/** `soon`: less than 30 days are left. `last`: less than 7 days. */
export type TokenEnd = 'far' | 'soon' | 'last'

/** `expiresAt`: null if the token does not expire. */
export function tokenEnd(expiresAt: Date | null, now: Date): TokenEnd {
  const leftMs = expiresAt === null ? Number.POSITIVE_INFINITY : expiresAt.getTime() - now.getTime()
  if (leftMs < TOKEN_LAST_MS) return 'last'
  return leftMs < TOKEN_SOON_MS ? 'soon' : 'far'
}
