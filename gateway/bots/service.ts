/** Choosing a bot for a job, and enrolling one. */
import type { Game } from '../../contract/games.ts'
import type { Db, Tx } from '../db/client.ts'
import type { Clock } from '../kit/clock.ts'
import type { SecretBox } from '../kit/secret-box.ts'
import type { Partner, Profile, Steam, SteamSession, Unavailable } from '../steam/steam.ts'
import { barBot } from './bar-store.ts'
import {
  type BotFacts,
  chooseBot,
  type FleetLimits,
  isBetterElsewhere,
  isStillGood,
  rankBots,
  shareOfStore,
  type Waiting,
} from './fleet.ts'
import {
  botForReading,
  botsForChoice,
  lockOffersOfStore,
  lockTradesOf,
  offersOfStore,
  type SealedToken,
  saveBot,
  tryLockTradesOf,
} from './store.ts'

/** Bots that are tried for a free one, and how often, before the first that has room must do. */
const MOST_TRIED = 8
const MOST_TURNS = 4

/** `tried`: bots that were refused the same wish already. */
type Wanted = { partnerSteamId: string; game: Game; items: number; tried: readonly bigint[] }

/**
 * Chooses the bot that will send an offer for this many items to the partner. Returns undefined if no reachable bot has
 * room. Its room is reserved until the transaction ends.
 */
export async function chooseBotForTrade(
  tx: Tx,
  { partnerSteamId, game, items, tried }: Wanted,
  limits: FleetLimits,
): Promise<{ botId: bigint } | undefined> {
  const rank = async () => {
    const bots = await botsForChoice(tx, { partnerSteamId, game })
    const meant = bots.filter(({ botId }) => !tried.includes(botId))
    return rankBots(meant, limits, items)
  }
  let ranked = await rank()
  for (let turns = 1; ranked.length > 0; turns += 1) {
    const botId = await lockOne(tx, ranked)
    ranked = await rank()
    const hasRoom = ranked.some((bot) => bot.botId === botId)
    // While we waited its room may have gone, or so many trades to it that another one is freer.
    if (isStillGood(ranked, botId) || (hasRoom && turns >= MOST_TURNS)) return { botId }
  }
  return undefined
}

/** A crowd that asks at once must not fill one bot after the other: whom somebody else is giving a trade is passed over. */
async function lockOne(tx: Tx, ranked: readonly BotFacts[]): Promise<bigint> {
  for (const { botId } of ranked.slice(0, MOST_TRIED)) if (await tryLockTradesOf(tx, botId)) return botId
  const [first] = ranked
  if (first === undefined) throw new Error('there is no bot to lock')
  await lockTradesOf(tx, first.botId)
  return first.botId
}

/** Transactions of two gateways that may be giving trades to bots at once. */
const AT_ONCE = 20

/** True while the store has less than its share of the fleet. Far from it nobody waits for anybody. */
export async function hasShareOfFleet(tx: Tx, storeId: bigint, limits: FleetLimits): Promise<boolean> {
  const offers = await offersOfStore(tx, storeId)
  if (offers.ofStore + AT_ONCE < shareOfStore(offers, limits)) return true
  await lockOffersOfStore(tx, storeId)
  const now = await offersOfStore(tx, storeId)
  return now.ofStore < shareOfStore(now, limits)
}

/** True while a bot has room for the offer, as far as can be told without a lock. */
export async function hasBotForTrade(
  db: Db,
  { partnerSteamId, game, items, tried }: Wanted,
  limits: FleetLimits,
): Promise<boolean> {
  const bots = await botsForChoice(db, { partnerSteamId, game })
  const others = bots.filter(({ botId }) => !tried.includes(botId))
  return chooseBot(others, limits, items) !== undefined
}

/** True while the wish that waits for this bot is served sooner at another one that has room, as far as can be told without a lock. */
export async function isServedSoonerElsewhere(
  db: Db,
  { partnerSteamId, game, ...waiting }: Omit<Wanted, 'tried'> & Waiting,
  limits: FleetLimits,
): Promise<boolean> {
  return isBetterElsewhere(await botsForChoice(db, { partnerSteamId, game }), limits, waiting)
}

/** Chooses the bot that will read an inventory, none of those that were tried. Returns undefined if none is reachable. */
export function chooseBotForReading(tx: Db | Tx, tried: readonly bigint[] = []): Promise<bigint | undefined> {
  return botForReading(tx, tried)
}

export type EnrolledBot = {
  botId: bigint
  steamId: string
  name: string
  tokenExpiresAt: Date | null
  /** False if Steam did not accept it. The process that holds the bot tries again. */
  protectionAcknowledged: boolean
  /** Days for which Steam would hold its trades; null if that was not asked. */
  ownHoldDays: number | null
}

/** `checkWith`: whose trade link to ask with. Steam tells the hold of an account only as one side of a trade. */
type ProveBotDeps = { steam: Steam; box: SecretBox; clock: Clock; refreshToken: string; checkWith?: Partner }

export type ProveBotAnswer =
  | ProvedBot
  | { kind: 'refused'; reason: 'token_dead' | 'token_malformed' | 'unknown_account' | 'check_link_refused' }
  | Unavailable

type ProvedBot = { kind: 'proved'; profile: Profile; token: SealedToken; ownHoldDays: number | null }

/** Asks Steam whether the account of this refresh token can work as a bot. Writes nothing to the database. */
export async function proveBot(deps: ProveBotDeps): Promise<ProveBotAnswer> {
  const { steam, box, clock, checkWith } = deps
  const token = deps.refreshToken.trim()
  const opened = await steam.openSession(token)
  if (opened.kind !== 'open') return opened
  const { session, expiresAt } = opened
  const { steamId } = session
  try {
    const test = await testSession(steam, session, clock.now())
    if (test.kind !== 'passed') return test
    const { profile, acknowledged } = test
    const hold = await ownHold(session, checkWith)
    if (hold.kind !== 'told') return hold
    const sealed = box.seal(token, tokenPlace(steamId))
    return { kind: 'proved', profile, token: { sealed, expiresAt, acknowledged }, ownHoldDays: hold.days }
  } finally {
    session.close()
  }
}

type OwnHold =
  | { kind: 'told'; days: number | null }
  | { kind: 'refused'; reason: 'check_link_refused' }
  | Unavailable

async function ownHold(session: SteamSession, partner: Partner | undefined): Promise<OwnHold> {
  // Nobody trades with themselves: Steam has no answer for the bot's own link.
  if (partner === undefined || partner.steamId === session.steamId) return { kind: 'told', days: null }
  const answer = await session.checkPartner(partner)
  if (answer.kind === 'refused') return { kind: 'refused', reason: 'check_link_refused' }
  return answer.kind === 'ok' ? { kind: 'told', days: answer.holdDays.own } : answer
}

/** Stores a bot that passed the self-test. One whose trades Steam would hold is stored too, and barred. */
export async function saveProvedBot(tx: Tx, proved: ProvedBot, now: Date): Promise<EnrolledBot> {
  const { profile, token, ownHoldDays } = proved
  const botId = await saveBot(tx, profile, token)
  // Such a bar is of every game, whichever is named.
  if (ownHoldDays !== null && ownHoldDays > 0) {
    await barBot(tx, { botId, reason: 'own_hold', game: 'cs', now })
  }
  const { steamId, name } = profile
  const { expiresAt: tokenExpiresAt, acknowledged: protectionAcknowledged } = token
  return { botId, steamId, name, tokenExpiresAt, protectionAcknowledged, ownHoldDays }
}

type SelfTest =
  | { kind: 'passed'; profile: Profile; acknowledged: boolean }
  | { kind: 'refused'; reason: 'unknown_account' }
  | Unavailable

/** Tests what every deposit needs of the account: Steam knows it, and its offers can be listed. */
async function testSession(steam: Steam, session: SteamSession, now: Date): Promise<SelfTest> {
  const answer = await steam.readProfile(session.steamId)
  if (answer.kind === 'unavailable') return answer
  if (answer.kind === 'unknown_account') return { kind: 'refused', reason: 'unknown_account' }
  const acknowledged = (await session.acknowledgeProtection()).kind === 'done'
  const offers = await session.listSentOffers(now, null)
  if (offers.kind === 'unavailable') return offers
  return { kind: 'passed', profile: answer.profile, acknowledged }
}

/** The place that a sealed refresh token is bound to. */
export function tokenPlace(steamId: string): string {
  return `bot:${steamId}:refresh_token`
}
