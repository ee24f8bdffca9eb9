/** Chooses the bot that collects the items of a trade. Pure. */
import type { Game } from '../../contract/games.ts'
import type { BotState } from '../db/bot-tables.ts'
import type { BarState } from './bar.ts'

export type BotFacts = {
  botId: bigint
  level: number
  state: BotState
  /** True if its session is open and a process holds its lease. */
  reachable: boolean
  /** True if all its calls about offers currently fail. */
  failing: boolean
  /** True if a trade has waited for more than 5 s for its offer to be sent. */
  late: boolean
  /** Number of trades whose offer it has not started to send. */
  waiting: number
  /** The state of its bars for the game of the offer. */
  barState: BarState
  /** Number of its items of the offer's game. */
  itemsHeld: number
  /** Number of items of that game in its open trades. */
  itemsOnTheWay: number
  /** Number of its open trades, each of which has at most one offer. */
  liveOffers: number
  liveOffersWithPartner: number
}

export type FleetLimits = {
  liveOffers: number
  liveOffersWithPartner: number
  /** Each game has its own inventory. Items on the way count as if they had arrived. */
  itemsHeld: Readonly<Record<Game, number>>
}

/**
 * `itemsHeld`: a tenth below Steam's own limit of 1000 items per game. A Team Fortress 2 backpack has 300 places unless
 * the account bought more.
 */
export const DEFAULT_FLEET_LIMITS: FleetLimits = {
  liveOffers: 30,
  liveOffersWithPartner: 5,
  itemsHeld: { cs: 900, dota: 900, rust: 900, tf: 270 },
}

/** Steam's own limits. An operator cannot set higher ones. */
export const MOST_LIVE_OFFERS = 30
export const MOST_LIVE_OFFERS_WITH_PARTNER = 5
export const MOST_ITEMS_HELD = 1_000

/** The items that a bot must have room for. */
export type Load = { game: Game; items: number }

/**
 * Returns the bots that can take the items now, in this order: not doubted before doubted, working before failing,
 * punctual before late, the fewest open trades with this shopper, the fewest open trades, the highest level, the oldest.
 */
export function rankBots(bots: readonly BotFacts[], limits: FleetLimits, load: Load): BotFacts[] {
  return bots.filter((bot) => canTake(bot, limits, load)).sort(byPreference)
}

export const chooseBot = (bots: readonly BotFacts[], limits: FleetLimits, load: Load): BotFacts | undefined =>
  rankBots(bots, limits, load)[0]

const isWorking = ({ reachable, failing, barState }: BotFacts): boolean =>
  reachable && !failing && barState !== 'barred'

/** A request that waits for this bot. `tried`: the bots that had the request before. */
export type Waiting = Load & { botId: bigint; tried: readonly bigint[] }

/**
 * True if another bot would serve the waiting request sooner. In a rush, every other bot is late too, or has a longer
 * queue. A request that moved then would only lose its place, and if every request kept moving, none would be served.
 */
export function isBetterElsewhere(
  bots: readonly BotFacts[],
  limits: FleetLimits,
  { botId, tried, ...load }: Waiting,
): boolean {
  const others = bots.filter((bot) => bot.botId !== botId && !tried.includes(bot.botId))
  const best = chooseBot(others, limits, load)
  if (best === undefined || !isWorking(best)) return false
  const currentBot = bots.find((bot) => bot.botId === botId)
  if (currentBot === undefined || !isWorking(currentBot)) return true
  return !best.late && best.waiting <= currentBot.waiting
}

/**
 * How many more open trades a bot may have than the first of the ranking. Other trades can be assigned while a trade
 * waits for the lock of its bot.
 */
const SLACK = 1

/** True if the bot is in the ranking, and has nearly as few open trades as the first. */
export function isStillGood(ranked: readonly BotFacts[], botId: bigint): boolean {
  const [first] = ranked
  const bot = ranked.find((other) => other.botId === botId)
  return bot !== undefined && first !== undefined && bot.liveOffers <= first.liveOffers + SLACK
}

/** One store may use three quarters of the offers that other stores leave free. */
const SHARE = { of: 4, parts: 3 }

export type StoreOffers = {
  /** Reachable bots in service. */
  bots: number
  /** Numbers of open trades: the store's own, and those of all other stores. */
  ofStore: number
  ofOthers: number
}

/**
 * How many open offers the store may have: at least one. The rest is left for other stores, and for deposits that a
 * store reserved for one Steam account.
 */
export function shareOfStore({ bots, ofOthers }: Omit<StoreOffers, 'ofStore'>, limits: FleetLimits): number {
  const leftByOthers = Math.max(0, bots * limits.liveOffers - ofOthers)
  return Math.max(1, Math.ceil((leftByOthers * SHARE.parts) / SHARE.of))
}

function canTake(bot: BotFacts, limits: FleetLimits, { game, items }: Load): boolean {
  return (
    bot.state === 'active' &&
    bot.reachable &&
    bot.barState !== 'barred' &&
    bot.liveOffers < limits.liveOffers &&
    bot.liveOffersWithPartner < limits.liveOffersWithPartner &&
    bot.itemsHeld + bot.itemsOnTheWay + items <= limits.itemsHeld[game]
  )
}

function byPreference(a: BotFacts, b: BotFacts): number {
  return (
    Number(a.barState === 'doubted') - Number(b.barState === 'doubted') ||
    Number(a.failing) - Number(b.failing) ||
    Number(a.late) - Number(b.late) ||
    a.liveOffersWithPartner - b.liveOffersWithPartner ||
    a.liveOffers - b.liveOffers ||
    b.level - a.level ||
    Number(a.botId - b.botId)
  )
}
