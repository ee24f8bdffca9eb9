/** A fake Steam over real HTTP, with answers set by the test, called through the port's client libraries. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { type Clock, systemClock } from '../kit/clock.ts'
import type { Steam, SteamSession } from '../steam/steam.ts'
import { createSandboxAgent } from '../steam/web/agent.ts'
import { createWebSteam, type WebSteamOptions } from '../steam/web/web-steam.ts'

export const BOT = '76561198000000001'
export const PARTNER = { steamId: '76561197960269729', token: 'abcd_-12' }
export const ASSETS = [{ appId: 730, contextId: '2', assetId: '9007199254740993' }]
export const SEND = 'steamcommunity.com/tradeoffer/new/send'
export const FINALIZE = 'login.steampowered.com/jwt/finalizelogin'
export const SET_TOKEN = 'steamcommunity.com/login/settoken'

export const jwt = (claims: object) =>
  ['{}', JSON.stringify(claims), 'sig'].map((part) => btoa(part)).join('.')
export const TOKEN = jwt({ iss: 'steam', sub: BOT, aud: ['web', 'renew', 'derive'] })

export type SteamRequest = {
  method: string
  host: string
  path: string
  query: URLSearchParams
  form: URLSearchParams
  headers: IncomingHttpHeaders
}
/** `drop`: the connection is closed without an answer. `hang`: no answer ever comes. */
export type SteamReply =
  | { status?: number; headers?: Record<string, string | string[]>; body?: unknown }
  | 'drop'
  | 'hang'
type Route = (request: SteamRequest) => SteamReply | Promise<SteamReply>

export const api = (method: string) => `api.steampowered.com/IEconService/${method}/v1/`
export const ok = (response: object): SteamReply => ({ body: { response } })

/** The answer that sets the cookie of a login. */
export function loginCookie(claims: object): SteamReply {
  const value = `steamLoginSecure=${BOT}%7C%7C${jwt({ sub: BOT, ...claims })}`
  return { headers: { 'set-cookie': [`${value}; Path=/; Secure; HttpOnly`] }, body: { result: 1 } }
}

export type ScriptedSteam = {
  url: string
  /** The answers by host and path; 404 for any other. */
  routes: Map<string, Route>
  /** `METHOD host/path` of all requests so far. */
  log: string[]
  requests: SteamRequest[]
  /** How many logins have begun. */
  logins: number
  /** How many requests so far had a path that ends with this one. */
  times(path: string): number
  createPort(deadlines?: WebSteamOptions['deadlines'], clock?: Clock): Steam
  open(deadlines?: WebSteamOptions['deadlines'], clock?: Clock): Promise<SteamSession>
  close(): Promise<void>
}

export async function scriptedSteam(): Promise<ScriptedSteam> {
  const sessions: SteamSession[] = []
  const server = createServer(async (incoming, response) => {
    const request = await read(incoming)
    steam.requests.push(request)
    steam.log.push(`${request.method} ${request.host}${request.path}`)
    const route = steam.routes.get(`${request.host}${request.path}`)
    reply(response, (await route?.(request)) ?? { status: 404, body: null })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const url = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`

  const steam: ScriptedSteam = {
    url,
    routes: new Map([
      [FINALIZE, finalize],
      [SET_TOKEN, () => loginCookie({ aud: ['web:community'], n: steam.logins })],
      ['store.steampowered.com/login/settoken', () => loginCookie({ aud: ['web:store'], n: steam.logins })],
    ]),
    log: [],
    requests: [],
    logins: 0,
    times: (path: string) => steam.log.filter((line) => line.endsWith(path)).length,
    createPort: (deadlines = {}, clock = systemClock) =>
      createWebSteam({
        redirect: createSandboxAgent('sandbox', url),
        imageBase: url,
        communityBase: url,
        deadlines,
        clock,
      }),
    async open(deadlines, clock) {
      const answer = await steam.createPort(deadlines, clock).openSession(TOKEN)
      if (answer.kind !== 'open') throw new Error(JSON.stringify(answer))
      sessions.push(answer.session)
      return answer.session
    },
    async close() {
      for (const session of sessions) session.close()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  function finalize(): SteamReply {
    steam.logins += 1
    const hosts = ['https://store.steampowered.com', 'https://steamcommunity.com']
    const transfers = hosts.map((host) => ({
      url: `${host}/login/settoken`,
      params: { nonce: 'n', auth: 'a' },
    }))
    return { body: { steamID: BOT, transfer_info: transfers } }
  }
  return steam
}

async function read(incoming: IncomingMessage): Promise<SteamRequest> {
  // Does not resolve the path against a base URL: text after two slashes would become the host.
  const url = new URL(`http://steam${incoming.url ?? '/'}`)
  return {
    method: incoming.method ?? '',
    host: incoming.headers.host ?? '',
    path: url.pathname,
    query: url.searchParams,
    form: new URLSearchParams(await text(incoming)),
    headers: incoming.headers,
  }
}

function reply(response: ServerResponse, answer: SteamReply) {
  if (answer === 'drop') response.socket?.destroy()
  if (typeof answer === 'string') return
  const isPage = typeof answer.body === 'string'
  const type = isPage ? 'text/html' : 'application/json'
  response.writeHead(answer.status ?? 200, { 'content-type': type, ...answer.headers })
  response.end(isPage ? answer.body : JSON.stringify(answer.body))
}
