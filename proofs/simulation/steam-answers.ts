/** The simulated Steam's answers about offers and Steam trades, which may be outdated or wrong. */
import type { Offer, OfferState, SteamTrade } from '../../gateway/steam/steam.ts'
import { PROTECTED_APP } from '../../steam-sandbox/world/world.ts'
import type { Fault } from './faults.ts'
import type { ModelTrade, SteamMemory, SteamOffer } from './steam-memory.ts'

/** How long after a change Steam may still report the state before it. */
export const STALE_MS = 60_000

/**
 * The offer's state as Steam reports it, which may be outdated or wrong. A fault counts only if it changes the answer.
 */
function reportedState({ engine, faults }: SteamMemory, offer: SteamOffer): OfferState {
  const now = engine.now()
  const { lie, state, earlier, changedAt } = offer
  if (lie !== null && now >= lie.from && now < lie.until && !faults.areStopped) {
    if (lie.state !== state) faults.note(lieAbout(offer, lie.state))
    return lie.state
  }
  const isOld = earlier !== state && now - changedAt < STALE_MS
  return isOld && faults.strike('stale read', 0.05) ? earlier : state
}

function lieAbout({ tradeId }: SteamOffer, reported: OfferState): Fault {
  if (tradeId !== null) return 'accepted offer reported as not accepted'
  return reported === 'accepted' ? 'open offer reported as accepted' : 'open offer reported as ended'
}

/**
 * Whether the till may learn of the trade's protection only after the delivery. The till knows that items of
 * `PROTECTED_APP` are protected, even if Steam does not report it.
 */
export const isReportedLate = ({ items, settlesAt, settlementReportedAt }: ModelTrade): boolean =>
  settlesAt !== null && settlementReportedAt > 0 && items.every(({ asset }) => asset.appId !== PROTECTED_APP)

/** The end of protection as Steam reports it; null before the report, which can be up to 20 hours late. */
function settlementOf({ engine }: SteamMemory, steamTrade: ModelTrade | undefined): number | null {
  const isReported = steamTrade !== undefined && engine.now() >= steamTrade.settlementReportedAt
  return isReported ? steamTrade.settlesAt : null
}

const dateOf = (ms: number | null): Date | null => (ms === null ? null : new Date(ms))

export function answerOffer(memory: SteamMemory, offer: SteamOffer): Offer {
  const state = reportedState(memory, offer)
  const settlesAt = settlementOf(memory, memory.steamTrades.get(offer.tradeId ?? ''))
  offer.reported.set(state, (offer.reported.get(state) ?? 0) + 1)
  const isTraded = state === 'accepted' || state === 'reverted' || state === 'in_escrow'
  const isLost = isTraded && offer.isIdLost
  if (isLost) memory.faults.note('accepted offer without a trade id')
  const tradeId = isTraded && !isLost ? offer.tradeId : null
  const isSame = offer.answer?.settlesAt?.getTime() === (settlesAt ?? undefined)
  if (isSame && offer.answer?.state === state && offer.answer.tradeId === tradeId) return offer.answer
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
    delaysSettlement: settlesAt !== null,
    settlesAt: dateOf(settlesAt),
  })
  return offer.answer
}

export function answerSteamTrade(memory: SteamMemory, steamTrade: ModelTrade): SteamTrade {
  const { engine, faults } = memory
  const { earlier, changedAt, state } = steamTrade
  const isOld = earlier.state !== state && engine.now() - changedAt < STALE_MS
  const answer = isOld && faults.strike('stale read', 0.05) ? earlier : statusOf(steamTrade)
  steamTrade.reported.add(answer.state)
  // In a partly marked trade, Steam marks only the first of the assets that it gave back.
  if (steamTrade.isPartlyMarked && answer.state === 'rolled_back') {
    const [first, ...rest] = answer.received
    const received = rest.map((asset) => ({ ...asset, rolledBackAssetId: null }))
    return { ...answer, received: first === undefined ? [] : [first, ...received] }
  }
  if (answer.settlesAt === null || settlementOf(memory, steamTrade) !== null) return answer
  faults.note('protection reported late')
  return { ...answer, settlesAt: null }
}

export function statusOf(
  steamTrade: Omit<
    ModelTrade,
    'earlier' | 'changedAt' | 'reported' | 'settlementReportedAt' | 'isPartlyMarked'
  >,
): SteamTrade {
  return {
    tradeId: steamTrade.tradeId,
    partnerSteamId: steamTrade.offer.partner,
    state: steamTrade.state,
    begunAt: new Date(steamTrade.beganAt),
    received: steamTrade.items.map(({ asset, newAssetId, rolledBackAssetId }) => ({
      ...asset,
      newAssetId,
      rolledBackAssetId,
    })),
    given: [],
    settlesAt: steamTrade.settlesAt === null ? null : new Date(steamTrade.settlesAt),
    rollbackOf: null,
  }
}
