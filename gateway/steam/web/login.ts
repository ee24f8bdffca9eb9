import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Agent } from 'node:https'
import { EAuthTokenPlatformType, LoginSession } from 'steam-session'
import type { Unavailable } from '../steam.ts'
import type { Asker, Outcome } from '../turns.ts'

/** Steam's result codes for an invalid token. A busy Steam answers with others. */
const DEAD_TOKEN_RESULTS = new Set([5, 15, 26, 27, 43])
const RATE_LIMIT_RESULT = 84

export type LoginAnswer =
  | { kind: 'cookies'; cookies: string[] }
  | { kind: 'refused'; reason: 'token_dead' }
  | Unavailable

/** The Steam id of a refresh token's account, as decimal digits; null if the text is not a refresh token. */
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

type LoginCall = { agent: Agent; refreshToken: string; asker: Asker }

/** Turns a refresh token into the cookies of steamcommunity.com, within `ms` in total. */
export function logInInTurn({ agent, refreshToken, asker }: LoginCall, ms: number): Promise<LoginAnswer> {
  return asker.ask<LoginAnswer>({
    method: 'login',
    ms,
    make: (leftMs) => logIn(agent, refreshToken, leftMs),
    judge: outcomeOf,
  })
}

function outcomeOf(answer: LoginAnswer): Outcome {
  if (answer.kind !== 'unavailable') return 'answered'
  return answer.reason === 'rate_limited' ? 'limited' : 'failed'
}

async function logIn(agent: Agent, refreshToken: string, ms: number): Promise<LoginAnswer> {
  const session = new LoginSession(EAuthTokenPlatformType.WebBrowser, { agent })
  session.refreshToken = refreshToken
  const limits = watchForLimits()
  const onError = (error: unknown) => explain(error, limits.wasLimited())
  const answer = session.getWebCookies().then(keepCommunityCookies, onError).finally(limits.end)
  // The library has no deadline.
  return withDeadline(answer, ms, {
    kind: 'unavailable',
    reason: 'timeout',
    detail: 'login: no answer in time',
  })
}

const LOGIN_HOST = 'login.steampowered.com'
const ANSWERS = 'http.client.response.finish'
type Finished = { request: { host?: string }; response: { statusCode?: number } }

/**
 * Watches the login host's answers to this process for a 429, because the library hides the status of an answer that
 * it cannot use. A 429 to another running login counts too.
 */
function watchForLimits() {
  let isLimited = false
  const see = (message: unknown): void => {
    const { request, response } = message as Finished
    if (request.host === LOGIN_HOST && response.statusCode === 429) isLimited = true
  }
  subscribe(ANSWERS, see)
  return { wasLimited: () => isLimited, end: () => void unsubscribe(ANSWERS, see) }
}

/** Resolves to `late` if `work` has not ended within `ms`. */
export async function withDeadline<T>(work: Promise<T>, ms: number, late: T): Promise<T> {
  const { promise, resolve } = Promise.withResolvers<T>()
  const timer = setTimeout(() => resolve(late), Math.max(0, ms))
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}

/** Steam sets one login cookie per host, but the Web API accepts only the token in the community's cookie. */
function keepCommunityCookies(cookies: string[]): LoginAnswer {
  const communityCookies = cookies.filter((cookie) =>
    /;\s*domain=\.?steamcommunity\.com\s*(;|$)/i.test(cookie),
  )
  if (!communityCookies.some((cookie) => cookie.startsWith('steamLoginSecure='))) {
    return { kind: 'unavailable', reason: 'steam_error', detail: 'login: no cookie for the community' }
  }
  return { kind: 'cookies', cookies: communityCookies }
}

/** Drops the error's own text, because it may quote the token. */
function explain(error: unknown, wasLimited: boolean): LoginAnswer {
  const result = error instanceof Error && 'eresult' in error ? Number(error.eresult) : Number.NaN
  if (DEAD_TOKEN_RESULTS.has(result)) return { kind: 'refused', reason: 'token_dead' }
  const isStatus429 = error instanceof Error && error.message === 'HTTP error 429'
  const isLimited = result === RATE_LIMIT_RESULT || isStatus429 || wasLimited
  const reason = isLimited ? 'rate_limited' : 'steam_error'
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const cause = Number.isNaN(result)
    ? /^[A-Z_]{3,40}$/.test(code)
      ? code
      : 'no login answer'
    : `result ${result}`
  return { kind: 'unavailable', reason, detail: `login: ${cause}` }
}
