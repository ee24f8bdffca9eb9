/** Trades, offers and Steam trades for tests of the pure rules. Times are seconds from a fixed start. */
import type { Offer, OfferState, SteamTrade } from '../steam/steam.ts'
import type { Attempt } from '../trades/refusal.ts'
import type { Trade, TradeIn } from '../trades/trade.ts'

export const at = (seconds: number): Date => new Date(Date.UTC(2026, 0, 1) + seconds * 1000)

export const items = [
  { appId: 730, contextId: '2', assetId: '11' },
  { appId: 730, contextId: '2', assetId: '12' },
]

const common = { tradeId: 1n, partnerSteamId: '76561198000000009', secretCode: 'K7QX2M', items }
const sent = { ...common, startedAt: at(0) }
const delivered = {
  ...sent,
  offerId: '5',
  steamTradeId: '900',
  acceptedAt: at(20),
  deliveredAt: at(20),
  reversed: [],
}

/** The attempt of the first bot, with no other bot tried before. */
export const attempt: Attempt = { intendedAt: at(0), tried: [], doubted: null }

export const intended: TradeIn<'intended'> = { ...common, state: 'intended', createdAt: at(0) }
export const sending: TradeIn<'sending'> = { ...sent, state: 'sending', missedReads: 0 }
export const unknown: TradeIn<'unknown'> = { ...sent, state: 'unknown', missedReads: 0 }
/** The offer has been open since second 0. */
export const active: TradeIn<'active'> = {
  ...sent,
  state: 'active',
  offerId: '5',
  deadline: at(300),
  acceptedAt: null,
  steamTradeId: null,
  settlesAt: null,
  cancelling: null,
  badEnd: null,
}
export const declined: TradeIn<'declined'> = {
  ...sent,
  state: 'declined',
  offerId: '5',
  reason: 'declined',
  refusal: null,
  steamHoldUntil: null,
  settlesAt: null,
  endedAt: at(200),
}
export const abandoned: TradeIn<'abandoned'> = {
  ...sent,
  state: 'abandoned',
  offerId: null,
  reason: 'not_found_on_steam',
  refusal: null,
  steamHoldUntil: null,
  settlesAt: null,
  endedAt: at(60),
}
/** Protected until second 700,000. */
export const held: TradeIn<'held'> = {
  ...delivered,
  state: 'held',
  settlesAt: at(700_000),
  lookAt: null,
}
/** The till checks it once more, a day after its protection ended. */
export const final: TradeIn<'final'> = {
  ...delivered,
  state: 'final',
  lookAt: at(786_400),
  endedAt: at(700_000),
}
export const reversed: TradeIn<'reversed'> = {
  ...delivered,
  state: 'reversed',
  reversed: ['11', '12'],
  endedAt: at(900),
}

export const oneTradePerState: Trade[] = [
  intended,
  sending,
  unknown,
  active,
  { ...declined, state: 'refused', offerId: null, reason: 'trade_refused' },
  abandoned,
  declined,
  { ...declined, state: 'countered' },
  { ...declined, state: 'invalid' },
  { ...declined, state: 'timed_out' },
  held,
  final,
  reversed,
]

export const offer = (state: OfferState, change: Partial<Offer> = {}): Offer => ({
  offerId: '5',
  partnerSteamId: common.partnerSteamId,
  message: common.secretCode,
  state,
  tradeId: state === 'accepted' || state === 'reverted' ? '900' : null,
  itemsToReceive: items,
  itemsToGive: [],
  createdAt: at(0),
  escrowEndsAt: null,
  delaysSettlement: false,
  settlesAt: null,
  ...change,
})

export const steamTrade = (change: Partial<SteamTrade> = {}): SteamTrade => ({
  tradeId: '900',
  partnerSteamId: common.partnerSteamId,
  state: 'complete',
  begunAt: at(0),
  received: items.map((asset) => ({ ...asset, newAssetId: `9${asset.assetId}`, rolledBackAssetId: null })),
  given: [],
  settlesAt: null,
  rollbackOf: null,
  ...change,
})
