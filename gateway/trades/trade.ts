/** The life of a trade: its states, the transitions between them, and how each event changes it. Pure. */
import type { ErrorCode } from '../../contract/errors.ts'
import type { FinalDepositStatus } from '../../contract/statuses.ts'
import type { Refusal, TradeStateColumn } from '../db/trade-tables.ts'
import type { EndReason } from '../deposits/deposit.ts'
import type { OfferAsset, SteamTrade } from '../steam/steam.ts'
import type { Verdict } from './refusal.ts'

export type TradeState = TradeStateColumn

/**
 * Why we cancelled the offer, which decides what its cancelled state means. `deadline`: the time was up, or another
 * trade of the deposit delivered. `needs_confirmation`: Steam wants a confirmation from the bot.
 */
export type CancelReason = 'deadline' | 'needs_confirmation' | 'store'

type Common = {
  tradeId: bigint
  partnerSteamId: string
  secretCode: string
  items: readonly OfferAsset[]
}

type Sent = Common & { startedAt: Date }

type Delivered = Sent & {
  offerId: string
  steamTradeId: string
  acceptedAt: Date
  deliveredAt: Date
  /** The shopper's asset ids of the items that were taken back. */
  reversed: readonly string[]
}

/**
 * Ended without the items. A later proof of delivery overrules this. `refused`: no offer was made. `abandoned`: the offer
 * of a send without an answer was not found, or the till stopped searching. `invalid`: Steam found the offer or its
 * items invalid, holds the items, refused or undid the exchange, or lacked a confirmation. `timed_out`: the offer was
 * cancelled or expired, or the till gave up.
 */
export type EndedState = 'refused' | 'abandoned' | 'declined' | 'countered' | 'invalid' | 'timed_out'

export type Trade =
  | (Common & { state: 'intended'; createdAt: Date })
  | (Sent & { state: 'sending' | 'unknown'; missedReads: number })
  | (Sent & {
      state: 'active'
      offerId: string
      /** Without effect while the offer counts as accepted. */
      deadline: Date
      acceptedAt: Date | null
      steamTradeId: string | null
      /** The end of Steam's protection, from the offer; null if the offer does not say. */
      settlesAt: Date | null
      cancelling: CancelReason | null
      /** A bad end, or a contradiction, that was seen once and must be confirmed. */
      badEnd: { state: string; seenAt: Date } | null
    })
  | (Common & {
      state: EndedState
      /** Null: no send was begun. */
      startedAt: Date | null
      offerId: string | null
      reason: string
      /** Why the bot could not send; null for any other end. */
      refusal: Refusal | null
      /** Until then Steam holds the items and may still deliver them; null if it holds nothing. */
      steamHoldUntil: Date | null
      /** As in `active`, if the offer was accepted before the till stopped waiting; otherwise null. */
      settlesAt: Date | null
      endedAt: Date
    })
  | (Delivered & {
      state: 'held'
      settlesAt: Date
      /** When to ask Steam before the settlement; null if nothing is left to ask. */
      lookAt: Date | null
    })
  | (Delivered & {
      state: 'final'
      /** When to ask Steam once more; null if nothing is left to ask. */
      lookAt: Date | null
      endedAt: Date
    })
  | (Delivered & { state: 'reversed'; endedAt: Date })

export type TradeIn<S extends TradeState> = Trade extends infer T
  ? T extends { state: TradeState }
    ? S extends T['state']
      ? T & { state: S }
      : never
    : never
  : never

export type EndedTrade = TradeIn<EndedState>

/** Ends that Steam sometimes takes back. */
export type BadEnd = Extract<EndReason, 'invalid' | 'invalid_items' | `exchange_${string}`>

/** `not_accepted`: an offer that was accepted without a Steam trade now has another state. */
export type Doubt = BadEnd | 'not_accepted'

/** How an offer can end without the items. */
export type End = {
  state: 'declined' | 'countered' | 'invalid' | 'timed_out'
  status: Exclude<FinalDepositStatus, 'succeeded' | 'paymentTimeout'>
  reason: EndReason
}

/**
 * Why the till stops waiting for Steam. `unresolved`: there was no answer in 15 days. A trade that is given up after its
 * send began, and before a delivery, has this as its `reason`.
 */
export type GivenUp = 'unresolved' | 'bot_retired' | 'ended_by_operator'

/** Why the bot could not send, and the consequences for the bot and for the shopper's request. */
export type Refused = { because: Refusal } & Omit<Verdict, 'code'>

export type TradeEvent =
  /** From here on the offer may exist, even if the process dies. */
  | { kind: 'send_begun'; at: Date }
  /** The send was not made after all. */
  | { kind: 'send_withdrawn'; at: Date }
  /** Steam gave no clear answer to the send, so the offer may exist. */
  | { kind: 'send_unanswered' }
  /** A complete list did not show the offer. */
  | { kind: 'offer_missed' }
  /** `refusal`: null if no bot took up the trade, another trade had paid the deposit, or the till gave the trade up. */
  | { kind: 'refused'; reason: ErrorCode; refusal: Refused | null; at: Date }
  | { kind: 'abandoned'; reason: 'not_found_on_steam' | GivenUp; at: Date }
  /** `doubted`: the bot that Steam refused before, for the same request and without a reason; null if there is none. */
  | { kind: 'activated'; offerId: string; deadline: Date; doubted: bigint | null }
  | { kind: 'cancel_begun'; because: CancelReason }
  /** `settlesAt`: the end of Steam's protection, as the offer says. */
  | { kind: 'accepted'; steamTradeId: string | null; settlesAt: Date | null; at: Date }
  /** Steam reported something that counts only if a second read confirms it. */
  | { kind: 'doubted'; badEnd: Doubt; at: Date }
  /** A later read did not confirm that report. */
  | { kind: 'doubt_ended' }
  /** Steam took the acceptance back before it reported a Steam trade. */
  | { kind: 'acceptance_withdrawn' }
  /** `steamHoldUntil`: the shopper accepted, and Steam holds the items until then. */
  | { kind: 'ended'; end: End; steamHoldUntil: Date | null; at: Date }
  /** Steam holds the items of an offer whose trade had ended. */
  | { kind: 'hold_seen'; offerId: string; until: Date }
  /**
   * Steam's hold ended without a delivery (`seen`), or the till stopped waiting, for example because Steam still shows
   * the hold a day after its end (`overdue`). Other trades may now reserve the items.
   */
  | { kind: 'hold_ended'; because: 'seen' | 'overdue' | GivenUp; at: Date }
  /** The till no longer asks Steam about the trade, which stays as it is. */
  | { kind: 'unwatched'; because: GivenUp }
  | {
      kind: 'delivered'
      offerId: string
      steamTrade: SteamTrade
      settlesAt: Date | null
      at: Date
      byOperator?: true
    }
  /** The protection has ended: the rest of the credit is final. */
  | { kind: 'released'; at: Date; byOperator?: true }
  /** The operator releases credit while Steam still protects the trade. The store's terms decide who bears the risk. */
  | { kind: 'released_early'; at: Date }
  /** `assetIds`: the items taken back by this event. */
  | { kind: 'reversed'; assetIds: readonly string[]; at: Date; byOperator?: true }
  /** Steam protects a held delivery for longer than it said at first. */
  | { kind: 'prolonged'; settlesAt: Date }
  /** Steam protects a delivery without having said so before. Its credit is at risk. */
  | { kind: 'protection_found'; settlesAt: Date; at: Date }
  /** Steam was asked again. `next`: when to ask next; null if never. */
  | { kind: 'looked'; next: Date | null }

/** Every transition of a trade. ARCHITECTURE.md draws this table. */
export const EDGES: Record<TradeState, readonly TradeState[]> = {
  intended: ['sending', 'refused'],
  sending: ['intended', 'unknown', 'active', 'refused', 'abandoned'],
  unknown: ['active', 'abandoned'],
  active: ['declined', 'countered', 'invalid', 'timed_out', 'held', 'final'],
  refused: ['held', 'final'],
  abandoned: ['held', 'final'],
  declined: ['held', 'final'],
  countered: ['held', 'final'],
  invalid: ['held', 'final'],
  timed_out: ['held', 'final'],
  held: ['final', 'reversed'],
  final: ['held', 'reversed'],
  reversed: [],
}

/** How long after the settlement Steam is asked once more. */
export const LAST_LOOK_MS = 86_400_000

/** How long after a delivery to look at it again, because Steam may report the protection late. */
const LOOKS_MS = [600_000, 86_400_000]

/** When to look at a delivery again, apart from its settlement; null when no look is left. */
export function nextLookOf(deliveredAt: Date, now: Date): Date | null {
  const ms = LOOKS_MS.find((waitMs) => deliveredAt.getTime() + waitMs > now.getTime())
  return ms === undefined ? null : new Date(deliveredAt.getTime() + ms)
}

/** Returns the trade after an event. Throws if the event does not belong to the state, which is a defect. */
export function evolve(trade: Trade, event: TradeEvent): Trade {
  switch (event.kind) {
    case 'send_begun':
    case 'send_withdrawn':
    case 'send_unanswered':
    case 'offer_missed':
    case 'refused':
    case 'abandoned':
    case 'activated':
      return evolveSend(trade, event)
    case 'cancel_begun':
      return trade.state === 'active' ? { ...trade, cancelling: event.because } : rejectEvent(trade, event)
    case 'accepted':
      if (trade.state !== 'active') return rejectEvent(trade, event)
      return {
        ...trade,
        acceptedAt: trade.acceptedAt ?? event.at,
        steamTradeId: event.steamTradeId ?? trade.steamTradeId,
        settlesAt: event.settlesAt ?? trade.settlesAt,
        badEnd: null,
      }
    case 'doubted':
      if (trade.state !== 'active') return rejectEvent(trade, event)
      return { ...trade, badEnd: { state: event.badEnd, seenAt: event.at } }
    case 'doubt_ended':
      return trade.state === 'active' ? { ...trade, badEnd: null } : rejectEvent(trade, event)
    case 'acceptance_withdrawn':
      return trade.state === 'active' ? withoutAcceptance(trade) : rejectEvent(trade, event)
    case 'ended':
      if (trade.state !== 'active') return rejectEvent(trade, event)
      return {
        ...endTrade(trade, { state: event.end.state, reason: event.end.reason, endedAt: event.at }),
        steamHoldUntil: event.steamHoldUntil,
      }
    case 'hold_seen':
      if (!isEnded(trade)) return rejectEvent(trade, event)
      return { ...trade, offerId: event.offerId, steamHoldUntil: event.until }
    case 'hold_ended':
      if (!isEnded(trade) || trade.steamHoldUntil === null) return rejectEvent(trade, event)
      // Reviews start now: Steam may be wrong about this end too.
      return { ...trade, steamHoldUntil: null, endedAt: event.at }
    case 'unwatched':
      return trade
    case 'delivered':
    case 'released':
    case 'released_early':
    case 'reversed':
    case 'prolonged':
    case 'protection_found':
    case 'looked':
      return evolveDelivered(trade, event)
    default:
      return event satisfies never
  }
}

type SendEvent = Extract<
  TradeEvent,
  { kind: `send_${string}` | 'offer_missed' | 'refused' | 'abandoned' | 'activated' }
>

function evolveSend(trade: Trade, event: SendEvent): Trade {
  const common = commonOf(trade)
  switch (event.kind) {
    case 'send_begun':
      if (trade.state !== 'intended') return rejectEvent(trade, event)
      return { ...common, state: 'sending', startedAt: event.at, missedReads: 0 }
    case 'send_withdrawn':
      if (trade.state !== 'sending') return rejectEvent(trade, event)
      return { ...common, state: 'intended', createdAt: event.at }
    case 'send_unanswered':
      return trade.state === 'sending' ? { ...trade, state: 'unknown' } : rejectEvent(trade, event)
    case 'offer_missed':
      if (trade.state !== 'sending' && trade.state !== 'unknown') return rejectEvent(trade, event)
      return { ...trade, state: 'unknown', missedReads: trade.missedReads + 1 }
    case 'refused':
      if (trade.state !== 'intended' && trade.state !== 'sending') return rejectEvent(trade, event)
      return {
        ...endTrade(trade, { state: 'refused', reason: event.reason, endedAt: event.at }),
        refusal: event.refusal?.because ?? null,
      }
    case 'abandoned':
      if (trade.state !== 'sending' && trade.state !== 'unknown') return rejectEvent(trade, event)
      return endTrade(trade, { state: 'abandoned', reason: event.reason, endedAt: event.at })
    case 'activated': {
      if (trade.state !== 'sending' && trade.state !== 'unknown') return rejectEvent(trade, event)
      const { offerId, deadline } = event
      const { startedAt } = trade
      const fresh = { acceptedAt: null, steamTradeId: null, settlesAt: null, cancelling: null, badEnd: null }
      return { ...common, state: 'active', startedAt, offerId, deadline, ...fresh }
    }
    default:
      return event satisfies never
  }
}

type DeliveredEvent = Extract<
  TradeEvent,
  { kind: `released${string}` | 'delivered' | 'reversed' | 'prolonged' | 'protection_found' | 'looked' }
>

function evolveDelivered(trade: Trade, event: DeliveredEvent): Trade {
  switch (event.kind) {
    case 'delivered': {
      if (!isDeliverable(trade)) return rejectEvent(trade, event)
      const { offerId, steamTrade, settlesAt, at } = event
      const delivered = {
        ...commonOf(trade),
        // A restored backup can be older than the send.
        startedAt: trade.startedAt ?? at,
        offerId,
        steamTradeId: steamTrade.tradeId,
        acceptedAt: ('acceptedAt' in trade ? trade.acceptedAt : null) ?? at,
        deliveredAt: at,
        reversed: [],
        lookAt: nextLookOf(at, at),
      }
      if (settlesAt !== null) return { ...delivered, state: 'held', settlesAt }
      return { ...delivered, state: 'final', endedAt: at }
    }
    case 'released': {
      if (trade.state !== 'held') return rejectEvent(trade, event)
      const { settlesAt, ...rest } = trade
      return { ...rest, state: 'final', lookAt: lastLookAfter(settlesAt), endedAt: event.at }
    }
    // Steam still protects the trade, so it is watched as before.
    case 'released_early':
      return trade.state === 'held' ? trade : rejectEvent(trade, event)
    case 'reversed': {
      if (trade.state !== 'held' && trade.state !== 'final') return rejectEvent(trade, event)
      const reversed = [...trade.reversed, ...event.assetIds]
      if (reversed.length < trade.items.length) return { ...trade, reversed }
      const { steamTradeId, acceptedAt, deliveredAt, startedAt, offerId } = trade
      const times = { acceptedAt, deliveredAt, startedAt }
      const delivered = { ...commonOf(trade), ...times, steamTradeId, offerId, reversed }
      return { ...delivered, state: 'reversed', endedAt: event.at }
    }
    case 'prolonged':
      return trade.state === 'held' ? { ...trade, settlesAt: event.settlesAt } : rejectEvent(trade, event)
    case 'protection_found': {
      if (trade.state !== 'final') return rejectEvent(trade, event)
      const { endedAt: _, ...rest } = trade
      const lookAt = nextLookOf(trade.deliveredAt, event.at)
      return { ...rest, state: 'held', settlesAt: event.settlesAt, lookAt }
    }
    case 'looked':
      if (trade.state !== 'held' && trade.state !== 'final') return rejectEvent(trade, event)
      return { ...trade, lookAt: event.next }
    default:
      return event satisfies never
  }
}

const commonOf = ({ tradeId, partnerSteamId, secretCode, items }: Trade): Common => ({
  tradeId,
  partnerSteamId,
  secretCode,
  items,
})

function endTrade(trade: Trade, end: { state: EndedState; reason: string; endedAt: Date }): EndedTrade {
  return {
    ...commonOf(trade),
    ...end,
    startedAt: 'startedAt' in trade ? trade.startedAt : null,
    offerId: 'offerId' in trade ? trade.offerId : null,
    refusal: null,
    steamHoldUntil: null,
    settlesAt: 'settlesAt' in trade ? trade.settlesAt : null,
  }
}

/** The trade as if its offer had never been accepted. */
export function withoutAcceptance(trade: TradeIn<'active'>): TradeIn<'active'> {
  return { ...trade, acceptedAt: null, settlesAt: null, badEnd: null }
}

/** True if a proof of delivery is accepted in this state. */
export function isDeliverable(trade: Trade): trade is TradeIn<'active'> | EndedTrade {
  return trade.state === 'active' || isEnded(trade)
}

export function lastLookAfter(settlesAt: Date): Date {
  return new Date(settlesAt.getTime() + LAST_LOOK_MS)
}

export function isEnded(trade: Trade): trade is EndedTrade {
  return EDGES[trade.state].includes('final') && trade.state !== 'active' && trade.state !== 'held'
}

export function isDelivered(trade: Trade): trade is TradeIn<'held' | 'final' | 'reversed'> {
  return trade.state === 'held' || trade.state === 'final' || trade.state === 'reversed'
}

function rejectEvent(trade: Trade, event: TradeEvent): never {
  throw new Error(`trade ${trade.tradeId} is ${trade.state}: ${event.kind} does not belong there`)
}
