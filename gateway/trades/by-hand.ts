/** An operator's decisions on credit, which need no answer from Steam. Pure. */
import { isPast } from '../kit/clock.ts'
import type { SteamTrade } from '../steam/steam.ts'
import { settlementAhead, settlementOf } from './proof.ts'
import { isDeliverable, type Trade, type TradeEvent } from './trade.ts'

/** The operator saw on Steam that the items arrived. `offerId`: needed if the till does not know it. */
export type ByHandCredit = { kind: 'operator_credits'; steamTradeId: string; offerId: string | null }

/**
 * How long after the end of protection an operator must wait to release credit that is still held. By then the till
 * has asked Steam about the trade, if any bot could.
 */
export const RELEASE_AFTER_MS = 86_400_000

type Circumstances = { now: Date; protectionDays: number }

/**
 * Credits all items of the trade, under the given Steam trade id. Their protection starts now, because their time of
 * arrival is unknown, and ends no earlier than Steam has said about the accepted offer.
 */
export function decideCredit(
  trade: Trade,
  { steamTradeId, offerId: namedOfferId }: ByHandCredit,
  { now, protectionDays }: Circumstances,
): TradeEvent[] {
  const isUnanswered = trade.state === 'sending' || trade.state === 'unknown'
  if (!isUnanswered && !isDeliverable(trade)) return []
  const knownOfferId = 'offerId' in trade ? trade.offerId : null
  const offerId = knownOfferId ?? namedOfferId
  if (offerId === null || (namedOfferId !== null && namedOfferId !== offerId)) return []
  if ('steamTradeId' in trade && trade.steamTradeId !== null && trade.steamTradeId !== steamTradeId) return []
  const steamTrade = {
    tradeId: steamTradeId,
    partnerSteamId: trade.partnerSteamId,
    state: 'complete',
    begunAt: now,
    received: trade.items.map((asset) => ({ ...asset, newAssetId: null, rolledBackAssetId: null })),
    given: [],
    settlesAt: null,
    rollbackOf: null,
  } satisfies SteamTrade
  const statedByOffer = 'settlesAt' in trade ? trade.settlesAt : null
  const settlesAt = settlementAhead(now, [settlementOf(steamTrade, now, protectionDays), statedByOffer])
  const delivered: TradeEvent = {
    kind: 'delivered',
    offerId,
    steamTrade,
    settlesAt,
    at: now,
    byOperator: true,
  }
  return isUnanswered ? [{ kind: 'abandoned', reason: 'ended_by_operator', at: now }, delivered] : [delivered]
}

export function decideRelease(trade: Trade, now: Date): TradeEvent[] {
  if (trade.state !== 'held' || !isPast(trade.settlesAt, RELEASE_AFTER_MS, now)) return []
  // The last look at the trade, a day after the end of protection, would be due already, so no look is left.
  return [
    { kind: 'released', at: now, byOperator: true },
    { kind: 'looked', next: null },
  ]
}

/**
 * Meant for a trade that Steam still protects. `releaseEarly` in credit.ts decides whether the store's limit allows it.
 */
export function decideEarlyRelease(trade: Trade, now: Date): TradeEvent[] {
  return trade.state === 'held' ? [{ kind: 'released_early', at: now }] : []
}

/** The operator knows that the shopper took all items back. Reverses those that were not reversed before. */
export function decideReversal(trade: Trade, now: Date): TradeEvent[] {
  if (trade.state !== 'held') return []
  const assetIds = trade.items.map(({ assetId }) => assetId).filter((id) => !trade.reversed.includes(id))
  return [{ kind: 'reversed', assetIds, at: now, byOperator: true }]
}
