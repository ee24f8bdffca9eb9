/** An account's requests to Steam. A session is opened with the account's refresh token, as the mobile app does. */
import { randomBytes } from 'node:crypto'
import { EAuthTokenPlatformType, LoginSession } from 'steam-session'
import type { Secrets } from '../files/accounts.ts'
import { type Caller, isLimit, RATE_LIMIT_RESULT, type Reply } from './call.ts'
import type { Pace, RequestKind } from './pace.ts'

const COMMUNITY = 'https://steamcommunity.com'
const API = 'https://api.steampowered.com'
const USER_AGENT = 'okhttp/4.9.2'
const LOGIN_DEADLINE_MS = 20_000
/** Steam's own results that mean an invalid refresh token, not a busy Steam. */
const REFUSAL_RESULTS = new Set([5, 15, 26, 27, 43])

export type SteamAnswer = Extract<Reply, { kind: 'reply' }>

export type Session = {
  steamId: string
  secrets: Secrets
  /** Reads the Web API. Undefined if the request was not made, or Steam gave no complete answer. */
  api(kind: RequestKind, method: string, query: Record<string, string>): Promise<SteamAnswer | undefined>
  /** Requests a page of the website. Undefined if the request was not made, or Steam gave no complete answer. */
  page(kind: RequestKind, path: string, page: Page): Promise<SteamAnswer | undefined>
  /**
   * Posts a form of the website. `not_made`: Steam certainly did not carry out the request. `keepsSession`: a refusal of
   * this form says nothing about the session, so it causes no login.
   */
  form(kind: RequestKind, path: string, form: Form): Promise<RequestResult>
  /**
   * Returns a session token of this account, for a market that must see its offers. `fresh`: from a new login,
   * even if a session is open. Undefined if a login is needed, but fails or would have to wait too long.
   */
  accessToken(options: { fresh: boolean }): Promise<string | undefined>
}

/** `isStillAllowed`: asked right before each request. If it says no, the request is not made. */
type Condition = { isStillAllowed?: (() => boolean) | undefined }
type Page = Condition & { query: Record<string, string> }
type Form = Condition & { fields: Record<string, string>; referer: string; keepsSession?: boolean }

export type RequestResult = SteamAnswer | { kind: 'unanswered' } | { kind: 'not_made' }

/** The outcome of a login. `refused`: Steam says that the refresh token is not valid, or no longer valid. */
export type LoginOutcome = 'done' | 'refused'

type Parts = { caller: Caller; pace: Pace; onLogin?(outcome: LoginOutcome): void }
type Tokens = { accessToken: string; sessionId: string }

/** The tokens of a session. `current` and `renew` resolve to undefined if the login that they needed failed. */
function keepTokens({ caller, pace, onLogin }: Parts, refreshToken: string) {
  let tokens: Tokens | undefined
  let loggingIn: Promise<Tokens | undefined> | undefined

  const logIn = async (): Promise<Tokens | undefined> => {
    if (!(await pace.turn('login'))) return undefined
    const login = await accessTokenOf(caller, refreshToken)
    if (login === 'limited') pace.noteLimit('login')
    if (login === 'refused') onLogin?.('refused')
    if (login === 'limited' || login === 'refused' || login === undefined) return undefined
    pace.noteAnswer('login')
    onLogin?.('done')
    tokens = { accessToken: login.accessToken, sessionId: randomBytes(12).toString('hex') }
    return tokens
  }
  /** Logs in once for all requests that wait for it. If the login fails, the tokens stay as they are. */
  const renew = (): Promise<Tokens | undefined> => {
    loggingIn ??= logIn().finally(() => {
      loggingIn = undefined
    })
    return loggingIn
  }
  return {
    renew,
    current: async () => tokens ?? (await renew()),
    /** Forgets these tokens, unless another request has renewed them in the meantime. */
    drop(ended: Tokens): void {
      if (tokens === ended) tokens = undefined
    },
  }
}

export function createSession(
  parts: Parts,
  { steamId, secrets }: { steamId: string; secrets: Secrets },
): Session {
  const { caller, pace } = parts
  const tokens = keepTokens(parts, secrets.refreshToken)

  /** If Steam refused the request because the session has ended, renews the session and repeats the request once. */
  const request = async (
    kind: RequestKind,
    make: (tokens: Tokens) => Promise<Reply>,
    { keepsSession = false, isStillAllowed = () => true }: Pick<Form, 'keepsSession' | 'isStillAllowed'> = {},
  ): Promise<RequestResult> => {
    for (const isLast of [false, true]) {
      const current = await tokens.current()
      if (current === undefined || !(await pace.turn(kind))) return { kind: 'not_made' }
      if (!isStillAllowed()) return { kind: 'not_made' }
      const reply = await make(current)
      if (reply.kind === 'failed') return { kind: 'unanswered' }
      if (isLimit(reply)) {
        pace.noteLimit(kind)
        return reply
      }
      pace.noteAnswer(kind)
      if (!hasEnded(reply)) return reply
      if (keepsSession) break
      tokens.drop(current)
      if (isLast) break
    }
    return { kind: 'not_made' }
  }

  return {
    steamId,
    secrets,
    async accessToken({ fresh }) {
      return (await (fresh ? tokens.renew() : tokens.current()))?.accessToken
    },
    api: async (kind, method, query) =>
      answerIn(
        await request(kind, ({ accessToken }) =>
          caller.call({
            method: 'GET',
            url: addressOf(API, `/${method}/v1/`, { ...query, access_token: accessToken }),
          }),
        ),
      ),
    async page(kind, path, { query, ...options }) {
      const url = addressOf(COMMUNITY, path, query)
      const get = (current: Tokens) =>
        caller.call({ method: 'GET', url, headers: cookieOf(steamId, current) })
      return answerIn(await request(kind, get, options))
    },
    form: (kind, path, { fields, referer, ...options }) =>
      request(
        kind,
        (current) =>
          caller.call({
            method: 'POST',
            url: addressOf(COMMUNITY, path, {}),
            headers: { ...cookieOf(steamId, current), origin: COMMUNITY, referer },
            form: new URLSearchParams({ sessionid: current.sessionId, ...fields }),
          }),
        options,
      ),
  }
}

const answerIn = (result: RequestResult): SteamAnswer | undefined =>
  result.kind === 'reply' ? result : undefined

const cookieOf = (steamId: string, { accessToken, sessionId }: Tokens): Record<string, string> => ({
  cookie: `steamLoginSecure=${steamId}%7C%7C${accessToken}; sessionid=${sessionId}; Steam_Language=english`,
  'user-agent': USER_AGENT,
})

/** True if Steam refuses the request because the session has ended. */
const hasEnded = ({ status, text }: SteamAnswer): boolean =>
  status === 401 ||
  status === 302 ||
  (status === 403 && text.includes('Access is denied')) ||
  (status === 200 && text.includes('"needauth":true'))

function addressOf(host: string, path: string, query: Record<string, string>): URL {
  const url = new URL(path, host)
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
  return url
}

/**
 * `limited`: Steam refused the login because of too many requests. `refused`: Steam refuses the token. Undefined if the
 * login failed for another reason.
 */
async function accessTokenOf(
  { agent }: Caller,
  refreshToken: string,
): Promise<{ accessToken: string } | 'limited' | 'refused' | undefined> {
  const late = Promise.withResolvers<undefined>()
  const timer = setTimeout(() => late.resolve(undefined), LOGIN_DEADLINE_MS)
  try {
    const session = new LoginSession(EAuthTokenPlatformType.MobileApp, { agent })
    session.refreshToken = refreshToken
    const renewed = session.refreshAccessToken().then(() => ({ accessToken: session.accessToken }))
    return await Promise.race([renewed, late.promise])
  } catch (error) {
    return isLimitedLogin(error) ? 'limited' : REFUSAL_RESULTS.has(resultOf(error)) ? 'refused' : undefined
  } finally {
    clearTimeout(timer)
  }
}

/** A network that blocks this address answers 403. Steam refuses a token with a result, not with this status. */
const LIMIT_STATUSES: ReadonlySet<unknown> = new Set([403, 429])

/** The library reports the HTTP status in `code`, or Steam's own result in `eresult`. */
const isLimitedLogin = (error: unknown): boolean =>
  (error instanceof Error && 'code' in error && LIMIT_STATUSES.has(error.code)) ||
  resultOf(error) === RATE_LIMIT_RESULT

const resultOf = (error: unknown): number =>
  error instanceof Error && 'eresult' in error ? Number(error.eresult) : Number.NaN
