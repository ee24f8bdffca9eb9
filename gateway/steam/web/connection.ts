import type { Agent } from 'node:https'
import type { Response } from 'request'
import TradeOfferManager from 'steam-tradeoffer-manager'
import SteamCommunity from 'steamcommunity'
import type { Clock } from '../../kit/clock.ts'
import type { Method } from '../methods.ts'
import { type HttpResult, requestOutcome, sessionEnded, unavailableFrom } from '../outcomes.ts'
import type { RawReply } from '../record.ts'
import type { OfferAsset, Partner, Unavailable } from '../steam.ts'
import { expiryOf } from '../token-expiry.ts'
import type { Asker } from '../turns.ts'
import { type LoginAnswer, logInInTurn, withDeadline } from './login.ts'
import { createTransport, type Transport } from './transport.ts'

/**
 * The shortest time from a renewal to the next. Without it, logins would repeat endlessly if Steam refused fresh
 * cookies.
 */
const RENEWAL_GAP_MS = 60_000
/** A session is renewed this long before its token expires. */
const RENEW_AHEAD_MS = 10 * 60_000
/** How long the library waits for a connection, and for an answer to begin. */
const LIBRARY_TIMEOUT_MS = 30_000
const UNREADABLE_COOKIES: Unavailable = {
  kind: 'unavailable',
  reason: 'steam_error',
  detail: 'login: unreadable cookies',
}

export type Call = {
  /** The method whose budget the call uses. It also appears in error details. */
  name: Method
  /** How many turns of that budget the call must leave to others, at most a sixth of a burst; none by default. */
  spare?: number
  url: string
  method?: 'GET' | 'POST'
  query?: Record<string, string | number>
  referer?: string
  /** How the call identifies the account. `none` is for public pages. */
  proof: 'cookies' | 'access_token' | 'none'
  /** Set if the answer is text, not JSON. */
  text?: true
}

/**
 * The libraries write the names of an asset's fields in lower case. A field that is added to `OfferAsset` must be added
 * to `send` too, or this file does not compile.
 */
type LibraryAsset = { [Field in keyof OfferAsset as Lowercase<Field>]: OfferAsset[Field] }

export type NewOffer = { partner: Partner; assets: OfferAsset[]; message: string }

export type Connection = {
  /** Makes the call, within `ms` in total. If the session has ended, renews it once and repeats the call once. */
  request(call: Call, ms: number): Promise<HttpResult | Unavailable>
  /** Acknowledges Steam's notice about trade protection. */
  acknowledge(ms: number): Promise<HttpResult | Unavailable>
  /** Sends a new offer through the library. `unavailable` means that the offer certainly does not exist. */
  send(offer: NewOffer, ms: number): Promise<HttpResult | Unavailable>
  close(): void
}

type Settings = {
  redirect: Agent | undefined
  loginAgent: Agent
  /** Sends the account's requests in turn. */
  asker: Asker
  /** A clock that never jumps, in milliseconds. */
  monotonicMs: () => number
  clock: Clock
  /** The time limit of one login. */
  loginMs: number
  onReply: ((reply: RawReply) => void) | undefined
}

export type OpenAnswer = { kind: 'open'; connection: Connection } | Exclude<LoginAnswer, { kind: 'cookies' }>

export async function openConnection(settings: Settings, refreshToken: string): Promise<OpenAnswer> {
  const { loginAgent: agent, asker, loginMs } = settings
  const loginAnswer = await logInInTurn({ agent, refreshToken, asker }, loginMs)
  if (loginAnswer.kind !== 'cookies') return loginAnswer
  const transport = createTransport(settings.redirect, settings.onReply)
  const identity = createIdentity(transport)
  if (!identity.setCookies(loginAnswer.cookies)) return UNREADABLE_COOKIES
  const renewal = createRenewal(settings, refreshToken, identity)

  return { kind: 'open', connection: createConnection(settings, { transport, identity }, renewal) }
}

type Caller = { transport: Transport; identity: Identity }

function createConnection(settings: Settings, caller: Caller, renewal: Renewal): Connection {
  const { transport, identity } = caller
  const { asker } = settings
  const withRenewal = async (
    { name, spare }: Pick<Call, 'name' | 'spare'>,
    ms: number,
    make: (ms: number) => Promise<HttpResult>,
  ) => {
    const attempt = (timeoutMs: number) => askInTurn(asker, name, { ms: timeoutMs, spare, make })
    const untilMs = settings.monotonicMs() + ms
    const leftMs = () => untilMs - settings.monotonicMs()
    // Renews early: if the token expired in the middle of a send, Steam could refuse the send.
    if (renewal.isDue()) await renewal.renew(renewal.generation(), leftMs())
    const seenGeneration = renewal.generation()
    const answer = await attempt(leftMs())
    if (answer.kind === 'unavailable' || !sessionEnded(answer)) return answer
    const problem = await renewal.renew(seenGeneration, leftMs())
    if (problem) return problem
    if (leftMs() <= 0) return lateAnswer(name)
    const secondAnswer = await attempt(leftMs())
    if (secondAnswer.kind === 'unavailable') return secondAnswer
    return sessionEnded(secondAnswer) ? unavailableFrom(name, secondAnswer) : secondAnswer
  }
  return {
    request: (call, ms) => {
      const make = (leftMs: number) => callOnce(caller, call, leftMs)
      return call.proof === 'none'
        ? askInTurn(asker, call.name, { ms, spare: call.spare, make })
        : withRenewal(call, ms, make)
    },
    acknowledge: (ms) =>
      withRenewal({ name: 'acknowledge' }, ms, (leftMs) =>
        transport.run(leftMs, (done) => identity.community.acknowledgeTradeProtection(done)),
      ),
    send: (offer, ms) =>
      withRenewal({ name: 'send' }, ms, (leftMs) =>
        transport.run(leftMs, (done) => identity.send(offer, done)),
      ),
    close: () => {
      transport.close()
      identity.manager.shutdown()
    },
  }
}

type Attempt = { ms: number; spare?: number | undefined; make: (ms: number) => Promise<HttpResult> }

/** Makes the request when the budgets of its method allow it. */
export function askInTurn(asker: Asker, method: Method, attempt: Attempt): Promise<HttpResult | Unavailable> {
  return asker.ask<HttpResult>({ ...attempt, method, judge: (answer) => requestOutcome(method, answer) })
}

const BY_NUMBER = 'https://steamcommunity.com/profiles/'
const CHOSEN_ADDRESS = /^https:\/\/steamcommunity\.com\/id\/[\w-]+\//

/**
 * True if Steam redirects from an account's number to the address that its owner chose. Any other redirect is an answer,
 * because it can mean that the session has ended.
 */
function isToChosenAddress({ request, headers }: Response): boolean {
  return request.uri.href.startsWith(BY_NUMBER) && CHOSEN_ADDRESS.test(String(headers.location))
}

/** Makes the call with the given identity, without a renewal. */
export function callOnce({ transport, identity }: Caller, call: Call, ms: number): Promise<HttpResult> {
  const method = call.method ?? 'GET'
  const query = {
    ...call.query,
    ...(call.proof === 'access_token' ? { access_token: identity.accessToken() } : {}),
    ...(call.proof === 'cookies' ? { sessionid: identity.community.getSessionID() } : {}),
  }
  return transport.run(ms, (done) =>
    identity.community.httpRequest(
      {
        uri: call.url,
        method,
        ...(method === 'GET' ? { qs: query } : { form: query }),
        ...(call.referer === undefined ? {} : { headers: { referer: call.referer } }),
        json: !call.text,
        followRedirect: isToChosenAddress,
        checkHttpError: false,
        checkCommunityError: false,
        checkTradeError: false,
        checkJsonError: false,
      },
      done,
    ),
  )
}

export type Identity = ReturnType<typeof createIdentity>

/** The libraries' objects for one account. Without cookies they act for no account. */
export function createIdentity(transport: Transport) {
  const community = new SteamCommunity({ request: transport.request, timeout: LIBRARY_TIMEOUT_MS })
  // No polling and no files: the state of offers is in our database, not in the library's poll data.
  const manager = new TradeOfferManager({
    community,
    pollInterval: -1,
    dataDirectory: null,
    useAccessToken: true,
  })
  let accessToken = ''
  return {
    community,
    manager,
    accessToken: () => accessToken,
    expiresAtMs: () => expiryOf(accessToken),
    /** Uses these cookies from now on; returns false if they contain no login. */
    setCookies(cookies: string[]): boolean {
      const value = cookies.find((cookie) => cookie.startsWith('steamLoginSecure='))
      const token = /^steamLoginSecure=\d+(?:%7C%7C|\|\|)([^;]+)/.exec(value ?? '')?.[1]
      if (!token) return false
      accessToken = decodeURIComponent(token)
      manager.setCookies(cookies, () => {})
      return true
    },
    send({ partner, assets, message }: NewOffer, done: () => void) {
      const offer = manager.createOffer(partner.steamId, partner.token)
      for (const { appId, contextId, assetId } of assets) {
        const asset: LibraryAsset = { appid: appId, contextid: contextId, assetid: assetId }
        offer.addTheirItem(asset)
      }
      offer.setMessage(message)
      offer.send(() => {
        // The library remembers every offer that it sent, for a poller that we do not run.
        manager.pollData = {}
        done()
      })
    },
  }
}

type Renewal = ReturnType<typeof createRenewal>

type Moment = { monotonicMs: number; clockMs: number }

function createRenewal(settings: Settings, refreshToken: string, identity: Identity) {
  let generation = 0
  let renewed: Moment | undefined
  let tried: Moment | undefined
  let running: Promise<Unavailable | undefined> | undefined

  const moment = (): Moment => ({
    monotonicMs: settings.monotonicMs(),
    clockMs: settings.clock.now().getTime(),
  })
  // The longer time of the two clocks counts: on the sandbox, an advance of its clock ends even a new session.
  const isRecent = (then: Moment | undefined): boolean => {
    const now = moment()
    const passedMs = then && Math.max(now.monotonicMs - then.monotonicMs, now.clockMs - then.clockMs)
    return passedMs !== undefined && passedMs < RENEWAL_GAP_MS
  }

  const run = async (): Promise<Unavailable | undefined> => {
    if (isRecent(renewed)) {
      return { kind: 'unavailable', reason: 'steam_error', detail: 'login: Steam ended a fresh session' }
    }
    tried = moment()
    const { loginAgent: agent, asker, loginMs } = settings
    const answer = await logInInTurn({ agent, refreshToken, asker }, loginMs)
    if (answer.kind === 'unavailable') return answer
    if (answer.kind === 'refused') {
      return { kind: 'unavailable', reason: 'session_dead', detail: 'login: token refused' }
    }
    if (!identity.setCookies(answer.cookies)) return UNREADABLE_COOKIES
    generation += 1
    renewed = moment()
    return undefined
  }
  return {
    generation: () => generation,
    /** Whether the token expires soon, and a renewal is running or none was tried recently. */
    isDue: () =>
      identity.expiresAtMs() - settings.clock.now().getTime() < RENEW_AHEAD_MS &&
      (running !== undefined || !isRecent(tried)),
    /**
     * Renews the session, unless that has been done since it had `seenGeneration`. Resolves to the reason if that
     * failed. Concurrent callers share one login.
     */
    renew(seenGeneration: number, ms: number): Promise<Unavailable | undefined> {
      if (generation > seenGeneration) return Promise.resolve(undefined)
      running ??= run().finally(() => {
        running = undefined
      })
      return withDeadline(running, ms, lateAnswer('login'))
    },
  }
}

function lateAnswer(name: Method): Unavailable {
  return { kind: 'unavailable', reason: 'timeout', detail: `${name}: DEADLINE` }
}
