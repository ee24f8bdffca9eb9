/** Which bot collects a trade: a pure choice over facts read in the caller's transaction. */
import type { BotState } from '../db/schema.ts'

export type BotFacts = {
  botId: bigint
  level: number
  state: BotState
  /** Its session is open and the lease of the process that holds it has not run out. */
  reachable: boolean
  /** Trades that have, or may have, an open offer on Steam. */
  liveOffers: number
  liveOffersWithPartner: number
}

export type FleetLimits = {
  /** Steam refuses an account's offers beyond 30 open ones. */
  liveOffers: number
  /** Steam refuses further offers to one partner beyond 5 open ones. */
  liveOffersWithPartner: number
}

export const DEFAULT_FLEET_LIMITS: FleetLimits = { liveOffers: 30, liveOffersWithPartner: 5 }

/** The least busy bot with room; among equals the one with the higher level, then the older one. */
export function chooseBot(bots: readonly BotFacts[], limits = DEFAULT_FLEET_LIMITS): BotFacts | undefined {
  return bots
    .filter(
      (bot) =>
        bot.state === 'active' &&
        bot.reachable &&
        bot.liveOffers < limits.liveOffers &&
        bot.liveOffersWithPartner < limits.liveOffersWithPartner,
    )
    .sort((a, b) => a.liveOffers - b.liveOffers || b.level - a.level || Number(a.botId - b.botId))[0]
}
