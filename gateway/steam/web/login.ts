/** Logging in to Steam with a bot's refresh token. */
import type { Agent } from 'node:https'
import { EAuthTokenPlatformType, LoginSession } from 'steam-session'
import type { Unavailable } from '../steam.ts'

/** Steam's results that mean the token itself is no longer good, as opposed to Steam being busy. */
const DEAD_TOKEN_RESULTS = new Set([5, 15, 26, 27, 43])
const RATE_LIMIT_RESULT = 84

export type LoginAnswer =
  | { kind: 'cookies'; cookies: string[] }
  | { kind: 'refused'; reason: 'token_dead' }
  | Unavailable

/** The account a refresh token is for, as decimal digits; null if the text is no such token. */
export function accountOfToken(refreshToken: string): string | null {
  try {
    const session = new LoginSession(EAuthTokenPlatformType.WebBrowser)
    session.refreshToken = refreshToken
    const steamId = session.steamID.getSteamID64()
    return /^\d{17}$/.test(steamId) ? steamId : null
  } catch {
    return null
  }
}

/** Turns a refresh token into the cookies of steamcommunity.com, within `ms` in all. */
export async function login(agent: Agent, refreshToken: string, ms: number): Promise<LoginAnswer> {
  const session = new LoginSession(EAuthTokenPlatformType.WebBrowser, { agent })
  session.refreshToken = refreshToken
  const answer = session.getWebCookies().then(keepCommunityCookies, explain)
  // The library would wait forever for a Steam that does not answer.
  return withDeadline(answer, ms, {
    kind: 'unavailable',
    reason: 'timeout',
    detail: 'login: no answer in time',
  })
}

/** Resolves to `late` if `work` has not come to an end within `ms`. */
export async function withDeadline<T>(work: Promise<T>, ms: number, late: T): Promise<T> {
  const { promise, resolve } = Promise.withResolvers<T>()
  const timer = setTimeout(() => resolve(late), Math.max(0, ms))
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}

/** One login cookie comes per host; the Web API takes only the token of the community's. */
function keepCommunityCookies(cookies: string[]): LoginAnswer {
  const kept = cookies.filter((cookie) => /;\s*domain=\.?steamcommunity\.com\s*(;|$)/i.test(cookie))
  if (!kept.some((cookie) => cookie.startsWith('steamLoginSecure='))) {
    return { kind: 'unavailable', reason: 'steam_error', detail: 'login: no cookie for the community' }
  }
  return { kind: 'cookies', cookies: kept }
}

/** The error's own text is dropped: it may quote the token. */
function explain(error: unknown): LoginAnswer {
  const result = error instanceof Error && 'eresult' in error ? Number(error.eresult) : Number.NaN
  if (DEAD_TOKEN_RESULTS.has(result)) return { kind: 'refused', reason: 'token_dead' }
  const reason = result === RATE_LIMIT_RESULT ? 'rate_limited' : 'steam_error'
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const cause = Number.isNaN(result)
    ? /^[A-Z_]{3,40}$/.test(code)
      ? code
      : 'no login answer'
    : `result ${result}`
  return { kind: 'unavailable', reason, detail: `login: ${cause}` }
}
