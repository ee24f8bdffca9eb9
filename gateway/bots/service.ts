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

/** How many bots to try to lock without waiting. */
const MOST_LOCK_TRIES = 8
/**
 * Each turn locks a bot, then ranks the bots again. From this turn on, the locked bot is accepted if it has room, even
 * if another bot is better.
 */
const MOST_TURNS = 4

/** `tried`: the bots that have already tried the same request. */
type BotQuery = { partnerSteamId: string; game: Game; items: number; tried: readonly bigint[] }

/**
 * Chooses the bot that will send an offer for this many items to the partner. Returns undefined if no untried bot
 * can take the items. The room in the chosen bot is reserved until the transaction ends.
 */
export async function chooseBotForTrade(
  tx: Tx,
  { partnerSteamId, game, items, tried }: BotQuery,
  limits: FleetLimits,
): Promise<{ botId: bigint } | undefined> {
  const rank = async () => {
    const bots = await botsForChoice(tx, { partnerSteamId, game })
    const untried = bots.filter(({ botId }) => !tried.includes(botId))
    return rankBots(untried, limits, { game, items })
  }
  let ranked = await rank()
  for (let turns = 1; ranked.length > 0; turns += 1) {
    const botId = await lockOne(tx, ranked)
    ranked = await rank()
    const hasRoom = ranked.some((bot) => bot.botId === botId)
    // During the wait, the bot may have filled up, or received so many trades that another one is better.
    if (isStillGood(ranked, botId) || (hasRoom && turns >= MOST_TURNS)) return { botId }
  }
  return undefined
}

/**
 * Locks the best bot that no other transaction is assigning a trade to, so a crowd does not fill one bot after another.
 * If the first MOST_LOCK_TRIES bots are all locked, waits for the best one.
 */
async function lockOne(tx: Tx, ranked: readonly BotFacts[]): Promise<bigint> {
  for (const { botId } of ranked.slice(0, MOST_LOCK_TRIES)) if (await tryLockTradesOf(tx, botId)) return botId
  const [first] = ranked
  if (first === undefined) throw new Error('there is no bot to lock')
  await lockTradesOf(tx, first.botId)
  return first.botId
}

/** Two gateways, with ten database connections each, together assign at most this many trades at the same moment. */
const AT_ONCE = 20

/** True while the store has fewer open offers than its share allows. Takes no lock if it has far fewer. */
export async function isBelowShareOfFleet(tx: Tx, storeId: bigint, limits: FleetLimits): Promise<boolean> {
  const offers = await offersOfStore(tx, storeId)
  if (offers.ofStore + AT_ONCE < shareOfStore(offers, limits)) return true
  await lockOffersOfStore(tx, storeId)
  const locked = await offersOfStore(tx, storeId)
  return locked.ofStore < shareOfStore(locked, limits)
}

/** True if an untried bot seems able to take the items. Takes no lock. */
export async function hasBotForTrade(
  db: Db,
  { partnerSteamId, game, items, tried }: BotQuery,
  limits: FleetLimits,
): Promise<boolean> {
  const bots = await botsForChoice(db, { partnerSteamId, game })
  const untried = bots.filter(({ botId }) => !tried.includes(botId))
  return chooseBot(untried, limits, { game, items }) !== undefined
}

/** True if another bot would probably serve the waiting request sooner. Takes no lock. */
export async function isServedSoonerElsewhere(
  db: Db,
  { partnerSteamId, ...waiting }: Waiting & Pick<BotQuery, 'partnerSteamId'>,
  limits: FleetLimits,
): Promise<boolean> {
  const bots = await botsForChoice(db, { partnerSteamId, game: waiting.game })
  return isBetterElsewhere(bots, limits, waiting)
}

/** Chooses an untried bot to read an inventory. Returns undefined if none is reachable. */
export function chooseBotForReading(tx: Db | Tx, tried: readonly bigint[] = []): Promise<bigint | undefined> {
  return botForReading(tx, tried)
}

export type EnrolledBot = {
  botId: bigint
  steamId: string
  name: string
  tokenExpiresAt: Date | null
  /** False if Steam did not accept the acknowledgement. The process that holds the bot tries again. */
  protectionAcknowledged: boolean
  /** False if Steam's answers about the account's offers contained no list. */
  areOffersListed: boolean
  /** For how many days Steam would hold the bot's items in a trade; null if Steam was not asked. */
  ownHoldDays: number | null
}

/** `checkWith`: another account. Steam is asked whether it would hold the bot's items in a trade with that account. */
type ProveBotDeps = { steam: Steam; box: SecretBox; clock: Clock; refreshToken: string; checkWith?: Partner }

export type ProveBotAnswer =
  | ProvedBot
  | { kind: 'refused'; reason: 'token_dead' | 'token_malformed' | 'unknown_account' | 'check_link_refused' }
  | Unavailable

type ProvedBot = Pick<EnrolledBot, 'areOffersListed' | 'ownHoldDays'> & {
  kind: 'proved'
  profile: Profile
  token: SealedToken
}

/** Asks Steam whether the account of this refresh token can work as a bot. Writes nothing to the database. */
export async function proveBot(deps: ProveBotDeps): Promise<ProveBotAnswer> {
  const { steam, box, clock, checkWith } = deps
  const token = deps.refreshToken.trim()
  const answer = await steam.openSession(token)
  if (answer.kind !== 'open') return answer
  const { session, expiresAt } = answer
  const { steamId } = session
  try {
    const test = await testSession(steam, session, clock.now())
    if (test.kind !== 'passed') return test
    const { profile, acknowledged, areOffersListed } = test
    const hold = await readOwnHold(session, checkWith)
    if (hold.kind !== 'known') return hold
    const sealed = box.seal(token, tokenPlace(steamId))
    const stored = { sealed, expiresAt, acknowledged }
    return { kind: 'proved', profile, token: stored, areOffersListed, ownHoldDays: hold.days }
  } finally {
    session.close()
  }
}

type OwnHold =
  | { kind: 'known'; days: number | null }
  | { kind: 'refused'; reason: 'check_link_refused' }
  | Unavailable

async function readOwnHold(session: SteamSession, partner: Partner | undefined): Promise<OwnHold> {
  // Steam gives no answer for the bot's own link, because an account cannot trade with itself.
  if (partner === undefined || partner.steamId === session.steamId) return { kind: 'known', days: null }
  const answer = await session.checkPartner(partner)
  if (answer.kind === 'refused') return { kind: 'refused', reason: 'check_link_refused' }
  return answer.kind === 'ok' ? { kind: 'known', days: answer.holdDays.own } : answer
}

/** Stores a proved bot. If Steam would hold its trades, the bot is also barred. */
export async function saveProvedBot(tx: Tx, proved: ProvedBot, now: Date): Promise<EnrolledBot> {
  const { profile, token, areOffersListed, ownHoldDays } = proved
  const botId = await saveBot(tx, profile, token)
  // This bar covers every game, so the game named here makes no difference.
  if (ownHoldDays !== null && ownHoldDays > 0) {
    await barBot(tx, { botId, reason: 'own_hold', game: 'cs', now })
  }
  const { steamId, name } = profile
  const { expiresAt: tokenExpiresAt, acknowledged: protectionAcknowledged } = token
  return { botId, steamId, name, tokenExpiresAt, protectionAcknowledged, areOffersListed, ownHoldDays }
}

type SelfTest =
  | { kind: 'passed'; profile: Profile; acknowledged: boolean; areOffersListed: boolean }
  | { kind: 'refused'; reason: 'unknown_account' }
  | Unavailable

/** How many times to ask for the offers while Steam's answer is empty. */
const MOST_LISTS = 3

/**
 * Tests what every deposit needs of the account: Steam returns its profile, and its offers can be listed. An empty
 * answer is no reason to refuse: Steam may give it to a good account without offers.
 */
async function testSession(steam: Steam, session: SteamSession, now: Date): Promise<SelfTest> {
  const answer = await steam.readProfile(session.steamId)
  if (answer.kind === 'unavailable') return answer
  if (answer.kind === 'unknown_account') return { kind: 'refused', reason: 'unknown_account' }
  const acknowledged = (await session.acknowledgeProtection()).kind === 'done'
  let offers = await session.listOffers(now, null)
  for (let lists = 1; offers.kind === 'nothing' && lists < MOST_LISTS; lists += 1) {
    offers = await session.listOffers(now, null)
  }
  if (offers.kind === 'unavailable') return offers
  return { kind: 'passed', profile: answer.profile, acknowledged, areOffersListed: offers.kind === 'offers' }
}

/** The row and column that an encrypted refresh token is bound to. */
export function tokenPlace(steamId: string): string {
  return `bot:${steamId}:refresh_token`
}
