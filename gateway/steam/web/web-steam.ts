/** The Steam port on the client libraries. */
import type { Agent } from 'node:https'
import type { Game } from '../../../contract/games.ts'
import type { Language } from '../../../contract/languages.ts'
import { isSteamId } from '../../../contract/steam-id.ts'
import { type Clock, systemClock } from '../../kit/clock.ts'
import type { Time } from '../budget.ts'
import { acknowledgeOutcome, partnerRefusal, unavailableFrom } from '../outcomes.ts'
import { parseHoldDays } from '../parse.ts'
import type { RawReply } from '../record.ts'
import type { Partner, PartnerAnswer, ProfileAnswer, SessionAnswer, Steam, SteamSession } from '../steam.ts'
import { expiryOf } from '../token-expiry.ts'
import { createTurns, type Observer, UNOBSERVED } from '../turns.ts'
import { createLiveAgent } from './agent.ts'
import { askInTurn, type Connection, callOnce, createIdentity, openConnection } from './connection.ts'
import { createPageSize, type PageSize, readInventory } from './inventory.ts'
import { accountOfToken } from './login.ts'
import {
  economyBody,
  economyCall,
  endOffer,
  listOffers,
  listSteamTrades,
  readOffer,
  readSteamTrade,
  rememberPartners,
  sendOffer,
} from './offers.ts'
import { readOwnInventory } from './own-inventory.ts'
import { type ProfileHosts, readProfile } from './profile.ts'
import { createTransport } from './transport.ts'

/** The deadlines of calls in milliseconds, including a renewal of the session. `own`: the bot's own inventory. */
type Deadlines = { login: number; send: number; inventory: number; own: number; other: number }

const DEFAULT_DEADLINES: Deadlines = {
  login: 10_000,
  send: 15_000,
  inventory: 15_000,
  // No shopper waits for a bot's own inventory, and its pages are read with pauses.
  own: 60_000,
  other: 10_000,
}

export type WebSteamOptions = {
  /** From `createSandboxAgent`; without it the calls reach the real Steam. */
  redirect?: Agent
  /** The address of avatars; the sandbox's address in sandbox mode. Without a slash at the end. */
  imageBase?: string
  /** The address of profile pages; the sandbox's address in sandbox mode. Without a slash at the end. */
  communityBase?: string
  deadlines?: Partial<Deadlines>
  clock?: Clock
  /** For tests of long waits. */
  time?: Time
  /** Returns a number from 0 to 1. It varies the pauses, so they do not all end together. */
  random?: () => number
  /** Notified of every request, sent or held back. */
  observer?: Observer
  /** Called with every raw answer, except the answers to logins, because they contain secrets. */
  onReply?: (reply: RawReply) => void
  /** How many gateways there are, all assumed to call Steam from this address; 1 by default. */
  gateways?: () => number
}

const TIME: Time = {
  now: () => performance.now(),
  // The timer keeps the process alive: a command that waits for its turn would otherwise end silently. It never delays
  // the end of a gateway, which calls process.exit.
  pause: (ms: number) => new Promise((resolve) => setTimeout(resolve, ms)),
}

/** Steam over its web pages and Web API. Needs no API key, and stores nothing between restarts. */
export function createWebSteam(options: WebSteamOptions = {}): Steam {
  const deadlines = { ...DEFAULT_DEADLINES, ...options.deadlines }
  const hosts: ProfileHosts = {
    avatarBase: options.imageBase ?? 'https://avatars.steamstatic.com',
    communityBase: options.communityBase ?? 'https://steamcommunity.com',
  }
  const loginAgent = options.redirect ?? createLiveAgent()
  const publicTransport = createTransport(options.redirect, options.onReply)
  const anonymous = createIdentity(publicTransport)
  const { clock = systemClock, time = TIME, random = Math.random, observer = UNOBSERVED } = options
  const turns = createTurns({ time, random, observer, gateways: options.gateways ?? (() => 1) })
  const pages = createPageSize(time)
  return {
    async openSession(refreshToken): Promise<SessionAnswer> {
      const steamId = accountOfToken(refreshToken)
      if (!steamId) return { kind: 'refused', reason: 'token_malformed' }
      const settings = {
        redirect: options.redirect,
        loginAgent,
        asker: turns.of(steamId),
        monotonicMs: time.now,
        clock,
        loginMs: deadlines.login,
        onReply: options.onReply,
      }
      const answer = await openConnection(settings, refreshToken)
      if (answer.kind !== 'open') return answer
      const expiresAtMs = expiryOf(refreshToken)
      return {
        kind: 'open',
        session: createSession({ steamId, connection: answer.connection, deadlines, pages, time }),
        expiresAt: Number.isFinite(expiresAtMs) ? new Date(expiresAtMs) : null,
      }
    },
    readProfile(steamId): Promise<ProfileAnswer> {
      if (!isSteamId(steamId)) return Promise.resolve({ kind: 'unknown_account' })
      return readProfile(
        (call) =>
          askInTurn(turns.ofNobody, call.name, {
            ms: deadlines.other,
            make: (leftMs) => callOnce({ transport: publicTransport, identity: anonymous }, call, leftMs),
          }),
        steamId,
        hosts,
      )
    },
  }
}

type Parts = {
  steamId: string
  connection: Connection
  deadlines: Deadlines
  pages: PageSize
  time: Time
}

function createSession({ steamId, connection, deadlines, pages, time }: Parts): SteamSession {
  const partners = rememberPartners()
  const end = (offerId: string, how: 'cancel' | 'decline') =>
    endOffer(connection, { offerId, how, partnerSteamId: partners.of(offerId) }, deadlines.other)
  const countdown = (ms: number) => {
    const untilMs = time.now() + ms
    return () => untilMs - time.now()
  }
  return {
    steamId,
    checkPartner: (partner) => checkPartner(connection, partner, deadlines.other),
    async readInventory(partner: Partner, game: Game, language: Language) {
      if (!isPartner(partner)) return { kind: 'refused', reason: 'invalid_token' }
      const leftMs = countdown(deadlines.inventory)
      return readInventory({ connection, pages, leftMs }, { partner, game, language })
    },
    readOwnInventory: (game, how) =>
      readOwnInventory({ connection, steamId, leftMs: countdown(deadlines.own) }, game, how),
    async sendOffer(partner, assets, message) {
      if (!isPartner(partner)) return { kind: 'refused', reason: 'invalid_token' }
      const answer = await sendOffer(connection, { partner, assets, message }, deadlines.send)
      if (answer.kind === 'sent') partners.add([{ ...answer, partnerSteamId: partner.steamId }])
      return answer
    },
    async readOffer(offerId) {
      const answer = await readOffer(connection, offerId, deadlines.other)
      if (answer.kind === 'offer') partners.add([answer.offer])
      return answer
    },
    async listOffers(since, cursor) {
      const answer = await listOffers(connection, { since, cursor }, deadlines.other)
      if (answer.kind === 'offers') partners.add([...answer.sent, ...answer.received])
      return answer
    },
    cancelOffer: (offerId) => end(offerId, 'cancel'),
    declineOffer: (offerId) => end(offerId, 'decline'),
    readSteamTrade: (tradeId) => readSteamTrade(connection, tradeId, deadlines.other),
    listSteamTrades: (after) => listSteamTrades(connection, after, deadlines.other),
    acknowledgeProtection: async () => acknowledgeOutcome(await connection.acknowledge(deadlines.other)),
    close: () => connection.close(),
  }
}

async function checkPartner(connection: Connection, partner: Partner, ms: number): Promise<PartnerAnswer> {
  if (!isPartner(partner)) return { kind: 'refused', reason: 'invalid_token' }
  const call = economyCall('GetTradeHoldDurations', {
    steamid_target: partner.steamId,
    trade_offer_access_token: partner.token,
  })
  const answer = await connection.request(call, ms)
  if (answer.kind === 'unavailable') return answer
  const refusal = partnerRefusal(answer)
  if (refusal) return refusal
  const holdDays = parseHoldDays(economyBody(answer))
  return holdDays === undefined ? unavailableFrom(call.name, answer) : { kind: 'ok', holdDays }
}

/** The Steam id and the token become parts of URLs. */
function isPartner({ steamId, token }: Partner): boolean {
  return isSteamId(steamId) && /^[\w-]{1,64}$/.test(token)
}
