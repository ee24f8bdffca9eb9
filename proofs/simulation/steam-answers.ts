/** Answers of the simulated Steam about its offers and exchanges, which may be old or wrong. */
import type { Offer, OfferState, SteamTrade } from '../../gateway/steam/steam.ts'
import type { Exchange, Memory, SteamOffer } from './steam-memory.ts'

export const STALE_MS = 60_000

/** The state that Steam tells of the offer, which may be old or wrong. A fault counts where it changes the answer. */
function stateToTell({ engine, faults }: Memory, offer: SteamOffer): OfferState {
  const now = engine.now()
  const { lie, state, earlier, changedAt } = offer
  if (lie !== null && now >= lie.from && now < lie.until && !faults.stopped) {
    if (lie.state !== state) faults.saw(offer.tradeId === null ? 'false end' : 'flip of an accepted offer')
    return lie.state
  }
  const isOld = earlier !== state && now - changedAt < STALE_MS
  return isOld && faults.strike('stale read', 0.05) ? earlier : state
}

export function tell(memory: Memory, offer: SteamOffer): Offer {
  const state = stateToTell(memory, offer)
  offer.told.set(state, (offer.told.get(state) ?? 0) + 1)
  const isExchanged = state === 'accepted' || state === 'reverted' || state === 'in_escrow'
  const tradeId = isExchanged ? offer.tradeId : null
  if (offer.answer?.state === state && offer.answer.tradeId === tradeId) return offer.answer
  const assets = [...offer.assets]
  offer.answer = Object.freeze({
    offerId: offer.offerId,
    partnerSteamId: offer.partner,
    message: offer.message,
    state,
    tradeId,
    itemsToReceive: offer.isCounter ? [] : assets,
    itemsToGive: offer.isCounter ? assets : [],
    createdAt: new Date(offer.createdAt),
    escrowEndsAt: state === 'in_escrow' ? offer.escrowEndsAt : null,
  })
  return offer.answer
}

export function tellExchange({ engine, faults }: Memory, exchange: Exchange): SteamTrade {
  const { earlier, changedAt, state } = exchange
  const isOld = earlier.state !== state && engine.now() - changedAt < STALE_MS
  const told = isOld && faults.strike('stale read', 0.05) ? earlier : statusOf(exchange)
  exchange.told.add(told.state)
  return told
}

export function statusOf(exchange: Omit<Exchange, 'earlier' | 'changedAt' | 'beganAt' | 'told'>): SteamTrade {
  return {
    tradeId: exchange.tradeId,
    partnerSteamId: exchange.offer.partner,
    state: exchange.state,
    received: exchange.items.map(({ asset, newAssetId, rolledBackAssetId }) => ({
      ...asset,
      newAssetId,
      rolledBackAssetId,
    })),
    settlesAt: exchange.settlesAt === null ? null : new Date(exchange.settlesAt),
    rollbackOf: null,
  }
}
