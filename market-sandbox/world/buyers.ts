/** The buyers' reactions to the offers that reach them. Pure. */
import type { Reaction, SteamOffer } from '../steam.ts'
import { OFFER, offerOf } from './outcomes.ts'
import { type Buyer, type Deal, MINUTE_S, type Temper, type World } from './world.ts'

/** `waitsForReady`: `afterS` begins when the seller reports the offer to the market, not when the offer is sent. */
type Habit = { does: Reaction['does']; afterS: number; waitsForReady: boolean }

/**
 * How a buyer of each temper reacts to the offer. `reversalsDue` decides when a buyer of temper `reverses` takes the
 * trade back.
 */
const HABITS: Record<Temper, Habit | undefined> = {
  accepts: { does: 'accept', afterS: 5, waitsForReady: true },
  eager: { does: 'accept', afterS: 0, waitsForReady: false },
  late: { does: 'accept', afterS: 8 * MINUTE_S, waitsForReady: false },
  never: undefined,
  declines: { does: 'decline', afterS: 10, waitsForReady: false },
  counters: { does: 'counter', afterS: 10, waitsForReady: false },
  escrow: { does: 'accept_held', afterS: 5, waitsForReady: true },
  reverses: { does: 'accept', afterS: 5, waitsForReady: true },
}

export function buyerOf(world: World, { buyer }: Deal): Buyer | undefined {
  return world.buyers.find(({ steamId }) => steamId === buyer)
}

/** The reactions that are due now, each with the offer that it answers. */
export function reactionsDue(world: World, offers: readonly SteamOffer[], nowS: number): Reaction[] {
  return world.deals.flatMap((deal) => {
    if (deal.state !== 'open') return []
    const offer = offerOf(deal, offers)
    const habit = HABITS[buyerOf(world, deal)?.temper ?? 'never']
    if (!habit || offer?.state !== OFFER.active || !givesBoughtItems(world, deal, offer)) return []
    const fromS = habit.waitsForReady ? (deal.readyAtS ?? Infinity) : offer.createdAtS
    return fromS + habit.afterS <= nowS ? [{ offerId: offer.id, seller: offer.sender, does: habit.does }] : []
  })
}

/** True if the offer gives exactly the bought items and asks for nothing. */
function givesBoughtItems(world: World, deal: Deal, offer: SteamOffer): boolean {
  const boughtIds = world.items
    .filter(({ itemId }) => deal.itemIds.includes(itemId))
    .map(({ assetId }) => assetId)
  const givenIds = offer.give.map(({ assetId }) => assetId)
  return offer.items.length === 0 && [...boughtIds].sort().join() === [...givenIds].sort().join()
}

const REVERSES_AFTER_S = 3 * 86_400

/** The buyers whose trades are due to be reversed. */
export function reversalsDue(world: World, nowS: number): string[] {
  const dueDeals = world.deals.filter((deal) => {
    if (deal.state !== 'given' || buyerOf(world, deal)?.temper !== 'reverses') return false
    return world.items.some(
      ({ hash, outcome, changedAtS }) =>
        hash === deal.hash &&
        outcome?.kind === 'settling' &&
        outcome.settlesAtS > nowS &&
        changedAtS + REVERSES_AFTER_S <= nowS,
    )
  })
  return [...new Set(dueDeals.map(({ buyer }) => buyer))]
}
