/** Which bot collects a trade: a pure choice over facts read in the caller's transaction. */
import type { BotState } from '../db/schema.ts'
import type { Standing } from './bar.ts'

export type BotFacts = {
  botId: bigint
  level: number
  state: BotState
  /** Its session is open and the lease of the process that holds it has not run out. */
  reachable: boolean
  /** Every call about offers fails right now. */
  failing: boolean
  /** Offers it should have sent by now still wait for their turn. */
  late: boolean
  /** Offers that it has not begun to send. */
  waiting: number
  /** Whether Steam's refusals bar it, for the game of the offer. */
  standing: Standing
  /** Items in its hands. */
  itemsHeld: number
  /** Items of the trades that have, or may have, an open offer on Steam. */
  itemsOnTheWay: number
  /** Trades that have, or may have, an open offer on Steam. */
  liveOffers: number
  liveOffersWithPartner: number
}

export type FleetLimits = {
  /** Steam refuses an account's offers beyond 30 open ones. */
  liveOffers: number
  /** Steam refuses further offers to one partner beyond 5 open ones. */
  liveOffersWithPartner: number
  /** A Steam inventory has room for 1000. Items on the way count as if they had arrived. */
  itemsHeld: number
}

export const DEFAULT_FLEET_LIMITS: FleetLimits = { liveOffers: 30, liveOffersWithPartner: 5, itemsHeld: 900 }

/** Steam's own limits. An operator may only set lower ones. */
export const MOST_FLEET_LIMITS: FleetLimits = { liveOffers: 30, liveOffersWithPartner: 5, itemsHeld: 1_000 }

/**
 * The bots that have room for the items and no bar: those that are not doubted first, then a working one before a failing
 * one, then one that sends at once before one that is late, then the fewest open trades with this shopper, then the
 * fewest open trades, then the highest level, then the oldest.
 */
export function rankBots(bots: readonly BotFacts[], limits: FleetLimits, items: number): BotFacts[] {
  return bots.filter((bot) => hasRoom(bot, limits, items)).sort(byPreference)
}

/** The first of the ranking. */
export const chooseBot = (
  bots: readonly BotFacts[],
  limits: FleetLimits,
  items: number,
): BotFacts | undefined => rankBots(bots, limits, items)[0]

const isWorking = ({ reachable, failing, standing }: BotFacts): boolean =>
  reachable && !failing && standing !== 'barred'

/** A wish of so many items that waits for this bot, and was refused by those before. */
export type Waiting = { botId: bigint; tried: readonly bigint[]; items: number }

/**
 * Whether a wish that waits for this bot is served sooner at one of the others. In a crowd every bot is late, or has as many
 * waiting: a wish that moved then would give up its place in one queue for the end of another, and a crowd that keeps
 * moving is never served.
 */
export function isBetterElsewhere(
  bots: readonly BotFacts[],
  limits: FleetLimits,
  { botId, tried, items }: Waiting,
): boolean {
  const others = bots.filter((bot) => bot.botId !== botId && !tried.includes(bot.botId))
  const best = chooseBot(others, limits, items)
  if (best === undefined || !isWorking(best)) return false
  const current = bots.find((bot) => bot.botId === botId)
  if (current === undefined || !isWorking(current)) return true
  return !best.late && best.waiting <= current.waiting
}

/** Trades that were given out while a lock was waited for: a bot with so many more than the first one is still chosen. */
const SLACK = 1

/** True if the bot has room, and nearly as few open trades as the first one of the ranking. */
export function isStillGood(ranked: readonly BotFacts[], botId: bigint): boolean {
  const [first] = ranked
  const bot = ranked.find((other) => other.botId === botId)
  return bot !== undefined && first !== undefined && bot.liveOffers <= first.liveOffers + SLACK
}

/** The part of what other stores leave that one store may take. */
const SHARE = { of: 4, parts: 3 }

export type StoreOffers = {
  /** Reachable bots in service. */
  bots: number
  /** Trades that have, or may have, an open offer: of the store, and of all others. */
  ofStore: number
  ofOthers: number
}

/** How many open offers the store may have: the rest is left to other stores, and to deposits that are locked. */
export function shareOfStore({ bots, ofOthers }: StoreOffers, limits: FleetLimits): number {
  const left = Math.max(0, bots * limits.liveOffers - ofOthers)
  return Math.max(1, Math.ceil((left * SHARE.parts) / SHARE.of))
}

function hasRoom(bot: BotFacts, limits: FleetLimits, items: number): boolean {
  return (
    bot.state === 'active' &&
    bot.reachable &&
    bot.standing !== 'barred' &&
    bot.liveOffers < limits.liveOffers &&
    bot.liveOffersWithPartner < limits.liveOffersWithPartner &&
    bot.itemsHeld + bot.itemsOnTheWay + items <= limits.itemsHeld
  )
}

function byPreference(a: BotFacts, b: BotFacts): number {
  return (
    Number(a.standing === 'doubted') - Number(b.standing === 'doubted') ||
    Number(a.failing) - Number(b.failing) ||
    Number(a.late) - Number(b.late) ||
    a.liveOffersWithPartner - b.liveOffersWithPartner ||
    a.liveOffers - b.liveOffers ||
    b.level - a.level ||
    Number(a.botId - b.botId)
  )
}
