/** The life of a trade, pure: what is due, and what Steam's word makes of it. The clock is an argument. */
import type { FinalDepositStatus } from '../../contract/statuses.ts'
import type { FAILED_TRADE_STATES, FORGOTTEN_TRADE_STATES } from '../db/schema.ts'
import type { Offer, OfferAsset, RefusedReason, TradeStatus } from '../steam/steam.ts'

/** The shopper's time to accept, from the moment the offer is known to be active. */
export const TRADE_WINDOW_MS = 5 * 60_000

/** An intent that no bot took up in this time is refused: the shopper has waited long enough. */
export const INTENT_LIFE_MS = 60_000

/** A send that was begun and not heard of for so long has lost its process. */
export const SEND_LOST_MS = 20_000

/** An unknown offer is abandoned after so many reads without it over at least so long. */
export const MISSED_READS = 3
export const MISSED_OVER_MS = 45_000

/** A bad end (states 1 and 8) counts only when seen again after this. */
export const BAD_END_PAUSE_MS = 10_000

/** Pauses until the next look, by what is waited for. */
export const PAUSES_MS = { unknown: 5_000, open: 5_000, slow: 60_000, release: 60_000, reversed: 3_600_000 }

/** What is waited for longer than this is looked at less often. */
const PATIENCE_MS = 120_000

/** A trade that ended without its items is looked at again so long after its end: Steam may have been late. */
const REVIEWS_MS = [60_000, 600_000, 3_600_000, 6 * 3_600_000, 24 * 3_600_000]

export type TradeItem = OfferAsset

/** Why our own cancel was sent; it decides what a cancelled offer means. */
export type CancelReason = 'deadline' | 'escrow' | 'needs_confirmation'

type Common = { tradeId: bigint; partnerSteamId: string; secretCode: string; items: readonly TradeItem[] }

type BadEnd = { state: string; seenAt: Date }

export type Trade =
  | (Common & { state: 'intended'; createdAt: Date })
  | (Common & { state: 'sending' | 'unknown'; startedAt: Date; missedReads: number })
  | (Common & {
      state: 'active'
      offerId: string
      deadline: Date
      acceptedAt: Date | null
      steamTradeId: string | null
      cancelling: CancelReason | null
      badEnd: BadEnd | null
    })
  | (Common & { state: 'held'; steamTradeId: string; settlesAt: Date })
  | (Common & { state: 'final' })
  | (Common & { state: EndedState; startedAt: Date | null; offerId: string | null; endedAt: Date })

/** Without the items, as far as is known. Proof that they came all the same wins. */
export type EndedState = (typeof FORGOTTEN_TRADE_STATES | typeof FAILED_TRADE_STATES)[number]

/** What the holder of the bot's lease has to do now. */
export type Due =
  | 'send'
  | 'give_up'
  | 'reconcile'
  | 'prove'
  | 'cancel'
  | 'read'
  | 'release'
  | 'review'
  | 'nothing'

export function dueAction(trade: Trade, now: Date): Due {
  switch (trade.state) {
    case 'intended':
      return now.getTime() - trade.createdAt.getTime() >= INTENT_LIFE_MS ? 'give_up' : 'send'
    case 'sending':
      return now.getTime() - trade.startedAt.getTime() >= SEND_LOST_MS ? 'reconcile' : 'nothing'
    case 'unknown':
      return 'reconcile'
    case 'active':
      if (trade.acceptedAt !== null) return 'prove'
      return trade.cancelling !== null || now >= trade.deadline ? 'cancel' : 'read'
    case 'held':
      return now >= trade.settlesAt ? 'release' : 'nothing'
    case 'refused':
    case 'abandoned':
    case 'declined':
    case 'countered':
    case 'invalid':
    case 'timed_out':
      return nextReview(trade, trade.endedAt) === null ? 'nothing' : 'review'
    case 'final':
      return 'nothing'
    default:
      return trade satisfies never
  }
}

/** When an ended trade is looked at next, or null when that is over or nothing was ever sent. */
export function nextReview(trade: { startedAt: Date | null; endedAt: Date }, now: Date): Date | null {
  if (trade.startedAt === null) return null
  const ms = REVIEWS_MS.find((after) => trade.endedAt.getTime() + after > now.getTime())
  return ms === undefined ? null : new Date(trade.endedAt.getTime() + ms)
}

/** When to look again at what has been waited for since then. */
export function nextLook(since: Date, now: Date): Date {
  const isLong = now.getTime() - since.getTime() >= PATIENCE_MS
  return new Date(now.getTime() + (isLong ? PAUSES_MS.slow : PAUSES_MS.open))
}

export type End = {
  state: 'declined' | 'countered' | 'invalid' | 'timed_out'
  status: Exclude<FinalDepositStatus, 'succeeded' | 'paymentTimeout'>
  reason: string
}

/** What one read of the offer means for an active trade. */
export type Verdict =
  | { kind: 'nothing' }
  | { kind: 'accepted'; steamTradeId: string | null }
  | { kind: 'end'; end: End }
  /** A bad end seen for the first time: look again. */
  | { kind: 'doubt'; badEnd: string }
  | { kind: 'cancel'; because: CancelReason }

const END_OF: Partial<Record<Offer['state'], End>> = {
  declined: { state: 'declined', status: 'tradeDeclined', reason: 'declined' },
  countered: { state: 'countered', status: 'tradeCountered', reason: 'countered' },
  expired: { state: 'timed_out', status: 'tradeTimeout', reason: 'expired' },
  cancelled_by_second_factor: {
    state: 'invalid',
    status: 'tradeHasInvalidItems',
    reason: 'cancelled_by_second_factor',
  },
}

const BY_OUR_CANCEL: Record<CancelReason, End> = {
  deadline: { state: 'timed_out', status: 'tradeTimeout', reason: 'deadline' },
  escrow: { state: 'invalid', status: 'tradeHasInvalidItems', reason: 'escrow' },
  needs_confirmation: { state: 'invalid', status: 'tradeHasInvalidItems', reason: 'needs_confirmation' },
}

/** A cancel that was not ours: the bot's session may be in other hands. */
const CANCELLED_ELSEWHERE: End = {
  state: 'timed_out',
  status: 'tradeTimeout',
  reason: 'cancelled_elsewhere',
}

export function judgeOffer(trade: Extract<Trade, { state: 'active' }>, offer: Offer, now: Date): Verdict {
  // Once accepted, only the trade's own status counts: offers flip back for a while.
  if (trade.acceptedAt !== null && offer.state !== 'accepted') return { kind: 'nothing' }
  switch (offer.state) {
    case 'active':
      return { kind: 'nothing' }
    case 'accepted':
    case 'reverted':
      return { kind: 'accepted', steamTradeId: offer.tradeId }
    case 'in_escrow':
      return { kind: 'cancel', because: 'escrow' }
    case 'needs_confirmation':
      return { kind: 'cancel', because: 'needs_confirmation' }
    case 'cancelled': {
      const end = trade.cancelling === null ? CANCELLED_ELSEWHERE : BY_OUR_CANCEL[trade.cancelling]
      return { kind: 'end', end }
    }
    case 'invalid':
    case 'invalid_items':
      return judgeBadEnd(trade, offer.state, now)
    case 'declined':
    case 'countered':
    case 'expired':
    case 'cancelled_by_second_factor': {
      const end = END_OF[offer.state]
      return end === undefined ? { kind: 'nothing' } : { kind: 'end', end }
    }
    default:
      return offer.state satisfies never
  }
}

/** What a bad end means that may yet turn out not to be one. */
export function judgeBadEnd(trade: { badEnd: BadEnd | null }, seen: string, now: Date): Verdict {
  const { badEnd } = trade
  if (badEnd === null || badEnd.state !== seen) return { kind: 'doubt', badEnd: seen }
  if (now.getTime() - badEnd.seenAt.getTime() < BAD_END_PAUSE_MS) return { kind: 'nothing' }
  return { kind: 'end', end: { state: 'invalid', status: 'tradeHasInvalidItems', reason: seen } }
}

/** What an offer means that belongs to no open trade: a twin, or one whose trade was given up. */
export type StrayVerdict = { kind: 'nothing' } | { kind: 'cancel' } | { kind: 'prove'; steamTradeId: string }

export function judgeStray(offer: Offer): StrayVerdict {
  switch (offer.state) {
    case 'active':
    case 'needs_confirmation':
    case 'in_escrow':
      return { kind: 'cancel' }
    case 'accepted':
    case 'reverted':
      return offer.tradeId === null ? { kind: 'nothing' } : { kind: 'prove', steamTradeId: offer.tradeId }
    case 'invalid':
    case 'countered':
    case 'expired':
    case 'cancelled':
    case 'declined':
    case 'invalid_items':
    case 'cancelled_by_second_factor':
      return { kind: 'nothing' }
    default:
      return offer.state satisfies never
  }
}

/** True when the offer is the one this trade asked for: nobody else knows the code before Steam shows it. */
export function isOfferOf(trade: Common, offer: Offer): boolean {
  return offer.partnerSteamId === trade.partnerSteamId && offer.message === trade.secretCode
}

export function sameAssets(some: readonly OfferAsset[], others: readonly OfferAsset[]): boolean {
  const key = (asset: OfferAsset): string => `${asset.appId}/${asset.contextId}/${asset.assetId}`
  const wanted = new Set(others.map(key))
  return (
    some.length === others.length &&
    wanted.size === others.length &&
    some.every((asset) => wanted.has(key(asset)))
  )
}

/** What Steam's record of the exchange proves. */
export type Proof = 'delivered' | 'not_yet' | 'rolled_back' | 'failed' | 'contradiction'

export function judgeProof(trade: Common, status: TradeStatus): Proof {
  const theirs = status.partnerSteamId === trade.partnerSteamId && status.rollbackOf === null
  if (!theirs || !sameAssets(status.received, trade.items)) return 'contradiction'
  const moved = status.received.every((asset) => asset.newAssetId !== null)
  switch (status.state) {
    case 'complete':
      return 'delivered'
    case 'committed':
      return moved ? 'delivered' : 'not_yet'
    case 'pending':
    case 'in_escrow':
      return 'not_yet'
    case 'rolled_back':
      return 'rolled_back'
    case 'failed':
      return 'failed'
    default:
      return status.state satisfies never
  }
}

const DAY_MS = 86_400_000

/** When Steam can no longer take a delivery back, or null where it never could. `protectionDays`: the game's. */
export function settlementOf(status: TradeStatus, acceptedAt: Date, protectionDays: number): Date | null {
  const byGame = protectionDays > 0 ? acceptedAt.getTime() + protectionDays * DAY_MS : 0
  const latest = Math.max(byGame, status.settlesAt?.getTime() ?? 0)
  return latest > 0 ? new Date(latest) : null
}

/** Which refusal of ours tells the shopper of Steam's. */
export function refusalCode(
  reason: RefusedReason,
): 'trade_refused' | 'items_unavailable' | 'no_bot_available' {
  switch (reason) {
    case 'invalid_token':
    case 'partner_cannot_trade':
    case 'partner_trade_ban':
    case 'access_denied':
      return 'trade_refused'
    case 'items_gone':
      return 'items_unavailable'
    case 'bot_cannot_trade':
    case 'too_many_offers':
    case 'inventory_full':
    case 'session_dead':
    case 'rate_limited':
      return 'no_bot_available'
    default:
      return reason satisfies never
  }
}
