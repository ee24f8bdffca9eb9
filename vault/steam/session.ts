/** An account's requests to Steam. A session is opened with the account's refresh token, as the mobile app does it. */
import { randomBytes } from 'node:crypto'
import { EAuthTokenPlatformType, LoginSession } from 'steam-session'
import type { Secrets } from '../files/accounts.ts'
import type { Caller, Reply } from './call.ts'
import type { Pace, RequestKind } from './pace.ts'

const COMMUNITY = 'https://steamcommunity.com'
const API = 'https://api.steampowered.com'
const USER_AGENT = 'okhttp/4.9.2'
const LOGIN_MS = 20_000

export type SteamAnswer = Extract<Reply, { kind: 'reply' }>

export type Session = {
  steamId: string
  secrets: Secrets
  /** Reads the Web API. Undefined if Steam gave no complete answer, or no session could be opened. */
  api(kind: RequestKind, method: string, query: Record<string, string>): Promise<SteamAnswer | undefined>
  /** Reads a page of the website. */
  page(kind: RequestKind, path: string, query: Record<string, string>): Promise<SteamAnswer | undefined>
  /** Posts a form of the website. `not_made`: the request was certainly not made. */
  form(
    kind: RequestKind,
    path: string,
    form: { fields: Record<string, string>; referer: string },
  ): Promise<Posted>
  /** Returns a session token of this account, for a market that must see its offers; undefined if Steam gives none. */
  accessToken(options: { fresh: boolean }): Promise<string | undefined>
}

export type Posted = SteamAnswer | { kind: 'unanswered' } | { kind: 'not_made' }

type Parts = { caller: Caller; pace: Pace }
type Tokens = { accessToken: string; sessionId: string }

export function createSession(
  { caller, pace }: Parts,
  { steamId, secrets }: { steamId: string; secrets: Secrets },
): Session {
  let tokens: Tokens | undefined

  const logIn = async (): Promise<Tokens | undefined> => {
    if (!(await pace.turn('login'))) return undefined
    const accessToken = await accessTokenOf(caller, secrets.refreshToken)
    if (accessToken === undefined) return undefined
    return { accessToken, sessionId: randomBytes(12).toString('hex') }
  }

  /** If the session has ended, renews it once and repeats the request, because the first one had no effect. */
  const request = async (kind: RequestKind, make: (tokens: Tokens) => Promise<Reply>): Promise<Posted> => {
    for (const isLast of [false, true]) {
      tokens ??= await logIn()
      if (tokens === undefined || !(await pace.turn(kind))) return { kind: 'not_made' }
      const reply = await make(tokens)
      if (reply.kind === 'failed') return { kind: 'unanswered' }
      if (reply.status === 429) {
        pace.limited(kind)
        return reply
      }
      pace.answered(kind)
      if (!hasEnded(reply)) return reply
      tokens = undefined
      if (isLast) break
    }
    return { kind: 'not_made' }
  }

  return {
    steamId,
    secrets,
    async accessToken({ fresh }) {
      if (fresh) tokens = undefined
      tokens ??= await logIn()
      return tokens?.accessToken
    },
    api: async (kind, method, query) =>
      answered(
        await request(kind, ({ accessToken }) =>
          caller.call({
            method: 'GET',
            url: addressOf(API, `/${method}/v1/`, { ...query, access_token: accessToken }),
          }),
        ),
      ),
    page: async (kind, path, query) =>
      answered(
        await request(kind, (current) =>
          caller.call({
            method: 'GET',
            url: addressOf(COMMUNITY, path, query),
            headers: cookieOf(steamId, current),
          }),
        ),
      ),
    form: (kind, path, { fields, referer }) =>
      request(kind, (current) =>
        caller.call({
          method: 'POST',
          url: addressOf(COMMUNITY, path, {}),
          headers: { ...cookieOf(steamId, current), origin: COMMUNITY, referer },
          form: new URLSearchParams({ sessionid: current.sessionId, ...fields }),
        }),
      ),
  }
}

const answered = (posted: Posted): SteamAnswer | undefined => (posted.kind === 'reply' ? posted : undefined)

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

async function accessTokenOf({ agent }: Caller, refreshToken: string): Promise<string | undefined> {
  const late = Promise.withResolvers<undefined>()
  const timer = setTimeout(() => late.resolve(undefined), LOGIN_MS)
  try {
    const session = new LoginSession(EAuthTokenPlatformType.MobileApp, { agent })
    session.refreshToken = refreshToken
    const renewed = session.refreshAccessToken().then(() => session.accessToken)
    return await Promise.race([renewed, late.promise])
  } catch {
    return undefined
  } finally {
    clearTimeout(timer)
  }
}
