import { acceptOffer, counterOffer, endOffer } from './offers.ts'
import { type Reaction, traitsOf } from './people.ts'
import { deliver, reverseAll, settleTrade, withoutAssets } from './trades.ts'
import {
  findAccount,
  OFFER_LIFE_S,
  type Offer,
  STATE,
  TRADE,
  type Trade,
  type World,
  withOffer,
} from './world.ts'

/** A scheduled event. `happen` returns the world after the event. */
type Event = { atS: number; happen: (world: World) => World }

/**
 * Advances the world to `nowS`, each event at its own moment: people react and take trades back, offers expire, escrow
 * and protection end. Returns the same world if nothing is due.
 */
export function advanceTo(world: World, nowS: number): World {
  let current = world
  for (;;) {
    const event = nextEvent(current)
    if (!event || event.atS > nowS) return current
    current = event.happen(current)
  }
}

/** The next event of each world. Each request needs it. Worlds are immutable, so it is computed only once. */
const nextOf = new WeakMap<World, { event: Event | undefined }>()

function nextEvent(world: World): Event | undefined {
  const known = nextOf.get(world) ?? { event: firstEvent(world) }
  nextOf.set(world, known)
  return known.event
}

function firstEvent(world: World): Event | undefined {
  let first: Event | undefined
  const consider = (event: Event) => {
    if (!first || event.atS < first.atS) first = event
  }
  for (const offer of world.offers) {
    if (offer.state === STATE.active || offer.state === STATE.needsConfirmation) {
      for (const event of eventsOfOffer(world, offer)) consider(event)
    }
  }
  for (const trade of world.trades) {
    for (const event of eventsOfTrade(world, trade)) consider(event)
  }
  return first
}

function eventsOfOffer(world: World, offer: Offer): Event[] {
  const expiry = {
    atS: offer.createdAtS + OFFER_LIFE_S,
    happen: (current: World) =>
      withOffer(current, { ...offer, state: STATE.expired, updatedAtS: offer.createdAtS + OFFER_LIFE_S }),
  }
  const partner = findAccount(world, offer.partner)
  const reaction = partner && traitsOf(world, partner).reaction
  if (!reaction || offer.state !== STATE.active) return [expiry]
  const atS = offer.createdAtS + reaction.afterS
  return [expiry, { atS, happen: (current) => react(current, offer, { ...reaction, atS }) }]
}

function react(world: World, offer: Offer, { does, atS }: Reaction & { atS: number }): World {
  const asPartner = { offerId: offer.id, by: offer.partner }
  const next = outcome(world, offer, { does, atS, asPartner })
  // A person whose reaction is impossible declines instead: otherwise the reaction would stay due forever.
  return next === world ? withOffer(world, { ...offer, state: STATE.declined, updatedAtS: atS }) : next
}

type DueReaction = { does: Reaction['does']; atS: number; asPartner: { offerId: string; by: string } }

function outcome(world: World, offer: Offer, { does, atS, asPartner }: DueReaction): World {
  switch (does) {
    case 'accept':
      return acceptOffer(world, asPartner, atS).world
    case 'decline':
      return endOffer(world, { ...asPartner, how: 'decline' }, atS).world
    case 'sell':
      if (offer.items.length === 0) return world
      return withoutAssets(world, new Set(offer.items.slice(0, 1).map(({ assetId }) => assetId)), atS)
    case 'counter': {
      const rest = offer.items.length > 1 ? offer.items.slice(1) : offer.items
      return counterOffer(world, { ...asPartner, assetIds: rest.map(({ assetId }) => assetId) }, atS).world
    }
  }
}

function eventsOfTrade(world: World, trade: Trade): Event[] {
  if (trade.status === TRADE.inEscrow && trade.escrowEndsAtS !== undefined) {
    return [
      {
        atS: trade.escrowEndsAtS,
        happen: (current) => deliverFromEscrow(current, trade, trade.escrowEndsAtS ?? 0),
      },
    ]
  }
  if (trade.settled || trade.settlesAtS === 0) return []
  const settlement = { atS: trade.settlesAtS, happen: (current: World) => settleTrade(current, trade.id) }
  const partner = findAccount(world, trade.partner)
  const afterS = partner && traitsOf(world, partner).reversesAfterS
  if (afterS === undefined || trade.status !== TRADE.complete) return [settlement]
  const atS = trade.atS + afterS
  if (atS >= trade.settlesAtS) return [settlement]
  return [
    settlement,
    { atS, happen: (current) => reverseAll(settleIfGone(current, trade), trade.partner, atS) },
  ]
}

/** Settles a trade if an item has left its receiver. Otherwise the reversal, now impossible, would stay due forever. */
function settleIfGone(world: World, trade: Trade): World {
  const owned = new Set(world.accounts.flatMap(({ assets }) => assets.map(({ assetId }) => assetId)))
  return trade.items.every(({ newAssetId = '' }) => owned.has(newAssetId))
    ? world
    : settleTrade(world, trade.id)
}

function deliverFromEscrow(world: World, trade: Trade, atS: number): World {
  const offer = world.offers.find(({ tradeId }) => tradeId === trade.id)
  const delivered = deliver(world, trade.id, atS)
  return offer ? withOffer(delivered, { ...offer, state: STATE.accepted, updatedAtS: atS }) : delivered
}
