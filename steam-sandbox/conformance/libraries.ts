import { Agent } from 'node:https'
import { createRequire } from 'node:module'
import net from 'node:net'
import { EAuthTokenPlatformType, LoginSession } from 'steam-session'
import { type RunningSteam, startSteam } from '../start.ts'

export type Failure = Error & { eresult?: number | string; cause?: unknown }
type Done<T extends unknown[]> = (error: Failure | null, ...values: T) => void

export type LibraryOffer = {
  id: string
  state: number
  tradeID: string
  message: string
  confirmationMethod: number
  escrowEnds: Date | null
  itemsToReceive: LibraryItem[]
  itemsToGive: LibraryItem[]
  isGlitched(): boolean
  addTheirItem(item: object): boolean
  addMyItem(item: object): boolean
  removeMyItem(item: object): boolean
  setMessage(message: string): void
  send(done: Done<[string]>): void
  cancel(done: Done<[]>): void
  decline(done: Done<[]>): void
  accept(done: Done<[string]>): void
  counter(): LibraryOffer
  getUserDetails(done: Done<[{ escrowDays?: number }, { escrowDays?: number; personaName: string }]>): void
  getExchangeDetails(
    detailsIfFailed: boolean,
    done: Done<[number, Date, ExchangedItem[], ExchangedItem[]]>,
  ): void
}
export type ExchangedItem = { assetid: string; new_assetid?: string; new_contextid?: string }
export type LibraryItem = {
  assetid: string
  classid: string
  market_hash_name: string
  tradable: boolean
  marketable: boolean
  descriptions: { value: string }[]
  owner_descriptions?: { value: string }[]
  missing?: boolean
}
export type Reply = { statusCode: number; headers: Record<string, string | undefined> }
export type Community = {
  setCookies(cookies: string[]): void
  acknowledgeTradeProtection(done: Done<[]>): void
  getUserInventoryContents(
    id: string,
    appId: number,
    contextId: number,
    tradable: boolean,
    language: string,
    done: Done<[LibraryItem[], object[], number]>,
  ): void
  getSteamUser(
    id: object,
    done: Done<[{ name: string; getAvatarURL(size: string): string; privacyState: string }]>,
  ): void
  httpRequestGet(
    uri: string,
    options: object,
    done: (error: Failure | null, reply: Reply, body: unknown) => void,
  ): void
}
export type Manager = {
  setCookies(cookies: string[], done: Done<[]>): void
  createOffer(partner: string, token?: string): LibraryOffer
  getOffer(id: string, done: Done<[LibraryOffer]>): void
  getOffers(filter: number, done: Done<[LibraryOffer[], LibraryOffer[]]>): void
  getOffers(filter: number, since: Date, done: Done<[LibraryOffer[], LibraryOffer[]]>): void
  _apiCall(method: string, name: object | string, version: number, input: object, done: Done<[unknown]>): void
  on(event: string, listener: () => void): void
  shutdown(): void
}

// Loaded without the gateway's declarations, which name only the methods that the gateway may call.
const require = createRequire(import.meta.url)
export const Request: {
  (options: object, done: (error: Failure | null, reply: Reply, body: string) => void): void
  defaults(options: object): unknown
} = require('request')
const SteamCommunity: new (options: object) => Community = require('steamcommunity')
const TradeOfferManager: new (options: object) => Manager = require('steam-tradeoffer-manager')
export const SteamTotp: { generateAuthCode(secret: string): string } = require('steam-totp')
const SteamID: new (id: string) => object = require('steamid')

/** The open connections of all clients. */
const sockets = new Set<net.Socket>()

/** Redirects every host of Steam to the sandbox, without TLS. */
export class SandboxAgent extends Agent {
  readonly #port: number
  constructor(port: number) {
    super({ keepAlive: false })
    this.#port = port
  }
  override createConnection() {
    const socket = net.connect({ host: '127.0.0.1', port: this.#port })
    sockets.add(socket)
    return socket.once('close', () => sockets.delete(socket))
  }
}

/**
 * Starts a Steam that answers immediately or never. When an answer is delayed, the sockets report a time-out at once,
 * so no test waits for the libraries' time-outs.
 */
export async function startSteamWithoutWaits(options: Omit<Parameters<typeof startSteam>[0], 'port'>) {
  /** The delays that the answers would have had, in milliseconds. */
  const waits: number[] = []
  const steam = await startSteam({
    ...options,
    port: 0,
    pause: (ms) => {
      waits.push(ms)
      for (const socket of sockets) socket.emit('timeout')
      return new Promise<void>(() => {})
    },
  })
  return { ...steam, waits }
}

/** Long enough for a slow machine to answer. */
const TIMEOUT_MS = 60_000

export type Kind = keyof Pick<typeof EAuthTokenPlatformType, 'WebBrowser' | 'MobileApp'>

export function createSession(steam: RunningSteam, kind: Kind = 'WebBrowser'): LoginSession {
  return new LoginSession(EAuthTokenPlatformType[kind], { agent: new SandboxAgent(steam.port) })
}

/** The cookies of a website login for steamcommunity.com. */
export async function loginCookies(steam: RunningSteam, refreshToken: string): Promise<string[]> {
  const session = createSession(steam)
  session.refreshToken = refreshToken
  return (await session.getWebCookies()).filter((cookie) => /domain=steamcommunity\.com/i.test(cookie))
}

export function createCommunity(steam: RunningSteam): Community {
  const request = Request.defaults({ agent: new SandboxAgent(steam.port) })
  return new SteamCommunity({ request, timeout: TIMEOUT_MS })
}

export type Person = { community: Community; manager: Manager; steamId: string }

/** Logs an account in with the unchanged libraries. `language` makes them ask for descriptions. */
export async function logIn(
  steam: RunningSteam,
  name: string,
  { language }: { language?: string } = {},
): Promise<Person> {
  const player = steam.as(name)
  const community = createCommunity(steam)
  const manager = new TradeOfferManager({
    community,
    pollInterval: -1,
    dataDirectory: null,
    useAccessToken: true,
  })
  // The library's option `language` loads a package that is not installed. The descriptions do not need it.
  if (language) Object.assign(manager, { _language: language })
  const cookies = await loginCookies(steam, player.refreshToken())
  await wait<void>((done) => manager.setCookies(cookies, done))
  return { community, manager, steamId: player.steamId }
}

/** The filter of the library's list: active offers only. */
export const ACTIVE_ONLY = 1

/** Converts a call of the libraries to a promise of its first value. */
export function wait<T>(start: (done: (error: Error | null, value: T) => void) => void): Promise<T> {
  return new Promise<T>((resolve, reject) =>
    start((error, value) => (error ? reject(error) : resolve(value))),
  )
}

/** Resolves to the error of a call of the libraries. Throws if the call succeeds. */
export async function failure(call: Promise<unknown>): Promise<Failure> {
  try {
    await call
  } catch (error) {
    if (error instanceof Error) return error
    throw error
  }
  throw new Error('The call did not fail.')
}

export function steamIdObject(steamId: string): object {
  return new SteamID(steamId)
}

export function inventoryOf(
  community: Community,
  steamId: string,
  { tradableOnly = true, appId = 730, contextId = 2 } = {},
) {
  return wait<LibraryItem[]>((done) =>
    community.getUserInventoryContents(steamId, appId, contextId, tradableOnly, 'english', done),
  )
}

/** Options to receive the raw answer: every status and text counts as success, and redirects are not followed. */
const AS_IT_IS = {
  checkHttpError: false,
  checkCommunityError: false,
  checkTradeError: false,
  followRedirect: false,
}

/** Requests a page through the library, and returns the raw answer. */
export function get(
  community: Community,
  uri: string,
): Promise<{ status: number; headers: Reply['headers']; body: unknown }> {
  return new Promise((resolve, reject) =>
    community.httpRequestGet(uri, AS_IT_IS, (error, reply, body) =>
      error ? reject(error) : resolve({ status: reply.statusCode, headers: reply.headers, body }),
    ),
  )
}

/** Creates an offer for the shopper's first items of a game, but does not send it. */
export function draftOffer(
  steam: RunningSteam,
  { manager }: Person,
  {
    who = 'nova_hound',
    count = 1,
    token,
    appId = 730,
  }: { who?: string; count?: number; token?: string; appId?: number } = {},
): LibraryOffer {
  const player = steam.as(who)
  const offer = manager.createOffer(
    player.steamId,
    token ?? new URL(player.tradeUrl()).searchParams.get('token') ?? '',
  )
  for (const { assetId } of player.tradable(appId).slice(0, count)) {
    offer.addTheirItem({ appid: appId, contextid: '2', assetid: assetId })
  }
  offer.setMessage('CODE-1')
  return offer
}

export async function sendDraft(...[steam, bot, pick]: Parameters<typeof draftOffer>): Promise<LibraryOffer> {
  const offer = draftOffer(steam, bot, pick)
  await wait<string>((done) => offer.send(done))
  return offer
}

export function read({ manager }: Person, offerId: string): Promise<LibraryOffer> {
  return wait<LibraryOffer>((done) => manager.getOffer(offerId, done))
}

/** Calls the sandbox's control API with a request such as `PUT behaviours/steam-down`. */
export async function control(steam: RunningSteam, request: string, body: object = {}): Promise<unknown> {
  const [method = '', path = ''] = request.split(' ')
  const headers = { 'content-type': 'application/json' }
  const init = method === 'GET' ? {} : { body: JSON.stringify(body), headers }
  const response = await fetch(`${steam.url}/control/${path}`, { method, ...init })
  if (!response.ok) throw new Error(`${request}: ${response.status}`)
  return response.json()
}
