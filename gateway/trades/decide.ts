/** Decides which events a fact causes in a trade. Pure and total. Facts can arrive twice, late and in any order. */
import type { Refusal } from '../db/trade-tables.ts'
import { AT_ONCE } from '../deposits/deposit.ts'
import { isPast } from '../kit/clock.ts'
import { LONGEST_HOLD_MS } from '../steam/offer-times.ts'
import type { Offer, SendAnswer, SteamTrade } from '../steam/steam.ts'
import { BAD_END_PAUSE_MS, INTENT_LIFE_MS } from './alarm.ts'
import {
  type ByHandCredit,
  decideCredit,
  decideEarlyRelease,
  decideRelease,
  decideReversal,
} from './by-hand.ts'
import { decideGivenUp, OVERDUE_MS } from './giving-up.ts'
import { judgeSteamTrade, later, offeredSettlement, settlementAhead, settlementOf } from './proof.ts'
import { type Attempt, judgeRefusal } from './refusal.ts'
import { isExactOfferOf, isOfferOf, judgeStray } from './stray.ts'
import {
  type BadEnd,
  type CancelReason,
  type End,
  type EndedTrade,
  type GivenUp,
  isDeliverable,
  isEnded,
  lastLookAfter,
  nextLookOf,
  type Trade,
  type TradeEvent,
  type TradeIn,
  withoutAcceptance,
} from './trade.ts'

/** The shopper's time to accept, from the moment the offer is known to be active. */
export const TRADE_WINDOW_MS = 5 * 60_000

/** An unknown offer is abandoned after this many lists without it, but not within this time of the send. */
const MISSED_READS = 3
const MISSED_OVER_MS = 45_000

/**
 * Hardly any person reads and ends an offer this soon after it was sent. The till assumes that a program ended it, with
 * the session of the shopper or of the bot.
 */
export const HASTY_MS = 10_000

export type Fact =
  /** No bot took up the intent in time. */
  | { kind: 'no_bot_came' }
  /** The bot is about to send. */
  | { kind: 'sending' }
  /** The bot's lease was too short for the send. Nothing was sent. */
  | { kind: 'not_sent' }
  /** The bot cannot send, or has not started in time. Nothing was sent. */
  | { kind: 'held_back'; because: Refusal }
  | { kind: 'send_answered'; answer: SendAnswer }
  /**
   * The sent offers with the trade's code, from a complete list or from the pages up to the trade's offer.
   * `unclear`: how many rows might be the offer, but are unreadable or incomplete.
   */
  | { kind: 'listed'; offers: readonly Offer[]; unclear: number }
  | { kind: 'cancelling'; because: Exclude<CancelReason, 'store'> }
  /** The store no longer wants the deposit. Any process may report this, with or without the bot's lease. */
  | { kind: 'store_cancels' }
  /** Another trade of the deposit delivered its items, so no time is left for this one. Any process may report this. */
  | { kind: 'other_delivered' }
  /** The till stops waiting for Steam. A sweep or an operator reports this, without a lease. */
  | { kind: 'given_up'; because: GivenUp }
  | ByHandCredit
  /** The operator releases credit a day or more after it should have settled: no bot can ask Steam about the trade. */
  | { kind: 'operator_releases' }
  /** The operator releases credit before Steam's protection ends. */
  | { kind: 'operator_releases_early' }
  /** The operator knows that the sender took the items back. Meant for trades that no bot can ask Steam about. */
  | { kind: 'operator_reverses' }
  | { kind: 'offer_read'; offer: Offer }
  /** `offer`: the offer just read, if it is not the one that the trade waits for. */
  | { kind: 'steam_trade_read'; offerId: string; steamTrade: SteamTrade; offer?: Offer }

/** `protectionDays`: for the trade's game. `isWanted`: false once the deposit has ended without this trade. */
export type Circumstances = { now: Date; protectionDays: number; isWanted: boolean; attempt: Attempt }

export function decide(trade: Trade, fact: Fact, context: Circumstances): TradeEvent[] {
  const { now } = context
  switch (fact.kind) {
    case 'no_bot_came': {
      const isStale = trade.state === 'intended' && isPast(trade.createdAt, INTENT_LIFE_MS, now)
      return isStale ? [{ kind: 'refused', reason: 'no_bot_available', refusal: null, at: now }] : []
    }
    case 'sending':
      return decideSending(trade, context)
    case 'not_sent':
      return trade.state === 'sending' ? [{ kind: 'send_withdrawn', at: now }] : []
    case 'held_back':
      return trade.state === 'intended' ? [refused(fact.because, context)] : []
    case 'send_answered':
      return decideSend(trade, fact.answer, context)
    case 'listed':
      return decideList(trade, fact, context)
    case 'cancelling':
      return decideCancel(trade, fact.because)
    case 'store_cancels':
      return decideCancel(trade, 'store')
    case 'other_delivered':
      return decideCancel(trade, 'deadline')
    case 'given_up':
      return decideGivenUp(trade, fact.because, now)
    case 'operator_credits':
      return decideCredit(trade, fact, context)
    case 'operator_releases':
      return decideRelease(trade, now)
    case 'operator_releases_early':
      return decideEarlyRelease(trade, now)
    case 'operator_reverses':
      return decideReversal(trade, now)
    case 'offer_read': {
      const { offer } = fact
      if (isEnded(trade) && isOfferOf(trade, offer)) return decideHold(trade, offer, now)
      return trade.state === 'active' && offer.offerId === trade.offerId ? decideOffer(trade, offer, now) : []
    }
    case 'steam_trade_read':
      return decideSteamTrade(trade, fact, context)
    default:
      return fact satisfies never
  }
}

/** If another trade has paid the deposit meanwhile, the shopper must not be asked for more items. */
function decideSending(trade: Trade, { now, isWanted }: Circumstances): TradeEvent[] {
  if (trade.state !== 'intended') return []
  if (isWanted) return [{ kind: 'send_begun', at: now }]
  return [{ kind: 'refused', reason: 'deposit_closed', refusal: null, at: now }]
}

function decideSend(trade: Trade, answer: SendAnswer, context: Circumstances): TradeEvent[] {
  if (trade.state !== 'sending' && trade.state !== 'unknown') return []
  switch (answer.kind) {
    case 'sent':
      return [activation(answer.offerId, context)]
    case 'refused':
      if (trade.state !== 'sending') return []
      return [refused(answer.reason, context)]
    case 'unknown':
      return trade.state === 'sending' ? [{ kind: 'send_unanswered' }] : []
    default:
      return answer satisfies never
  }
}

function refused(because: Refusal, { now, isWanted, attempt }: Circumstances): TradeEvent {
  const { code, bars, next } = judgeRefusal(because, attempt, now)
  return { kind: 'refused', reason: code, refusal: { because, bars, next: isWanted ? next : 'end' }, at: now }
}

/** If the deposit has ended meanwhile, the shopper must not be asked to accept the offer. */
const activation = (offerId: string, { now, isWanted, attempt }: Circumstances): TradeEvent => ({
  kind: 'activated',
  offerId,
  deadline: isWanted ? new Date(now.getTime() + TRADE_WINDOW_MS) : now,
  doubted: attempt.doubted,
})

/** Keeps the first reason, which decides the meaning of the cancelled offer. */
function decideCancel(trade: Trade, because: CancelReason): TradeEvent[] {
  if (trade.state !== 'active' || trade.acceptedAt !== null || trade.cancelling !== null) return []
  return [{ kind: 'cancel_begun', because }]
}

type List = Extract<Fact, { kind: 'listed' }>

function decideList(trade: Trade, { offers, unclear }: List, context: Circumstances): TradeEvent[] {
  if (trade.state !== 'sending' && trade.state !== 'unknown') return []
  const exactOffer = offers.find((offer) => isExactOfferOf(trade, offer))
  if (exactOffer !== undefined) return [activation(exactOffer.offerId, context)]
  // A list that could not be read in full does not prove that the offer is missing.
  if (unclear > 0) return []
  const isOver = isPast(trade.startedAt, MISSED_OVER_MS, context.now) && trade.missedReads + 1 >= MISSED_READS
  return [
    { kind: 'offer_missed' },
    ...(isOver ? [{ kind: 'abandoned', reason: 'not_found_on_steam', at: context.now } as const] : []),
  ]
}

const END_OF = {
  countered: { state: 'countered', status: 'tradeCountered', reason: 'countered' },
  expired: { state: 'timed_out', status: 'tradeTimeout', reason: 'expired' },
  cancelled_by_second_factor: {
    state: 'invalid',
    status: 'tradeHasInvalidItems',
    reason: 'cancelled_by_second_factor',
  },
} as const satisfies Partial<Record<Offer['state'], End>>

const BY_OUR_CANCEL: Record<CancelReason, End> = {
  deadline: { state: 'timed_out', status: 'tradeTimeout', reason: 'deadline' },
  needs_confirmation: { state: 'invalid', status: 'tradeHasInvalidItems', reason: 'needs_confirmation' },
  store: { state: 'timed_out', status: 'tradeTimeout', reason: 'cancelled_by_store' },
}

/** Accepted, but Steam holds the items. Cancelling now would put the bot into a cooldown. */
const ESCROW: End = { state: 'invalid', status: 'tradeHasInvalidItems', reason: 'escrow' }

/** The till did not cancel this offer: someone else may be using the bot's session. */
const CANCELLED_ELSEWHERE: HastyEnd = {
  state: 'timed_out',
  status: 'tradeTimeout',
  reason: 'cancelled_elsewhere',
}

const DECLINED: HastyEnd = { state: 'declined', status: 'tradeDeclined', reason: 'declined' }

/** Steam has been seen to report an accepted offer as open, but for a much shorter time. */
const WITHDRAWAL_PAUSE_MS = 60_000

function decideOffer(trade: TradeIn<'active'>, offer: Offer, now: Date): TradeEvent[] {
  if (trade.acceptedAt !== null && offer.state !== 'accepted' && offer.state !== 'reverted') {
    if (trade.steamTradeId === null) return decideWithdrawal(trade, offer, now)
    // The offer's state can flip back for a while, so once there is a Steam trade, only its record counts. Escrow is an
    // exception: its items arrive only after days.
    if (offer.state !== 'in_escrow') return []
  }
  const end = (how: End, steamHoldUntil: Date | null = null): TradeEvent[] => [
    { kind: 'ended', end: how, steamHoldUntil, at: now },
  ]
  switch (offer.state) {
    case 'active':
      return endDoubt(trade)
    case 'accepted':
    case 'reverted':
      if (trade.acceptedAt !== null && (offer.tradeId === null || trade.steamTradeId === offer.tradeId))
        return trade.steamTradeId === null ? endDoubt(trade) : []
      return [
        { kind: 'accepted', steamTradeId: offer.tradeId, settlesAt: offeredSettlement(offer, now), at: now },
      ]
    case 'in_escrow':
      return end(ESCROW, holdOf(trade, offer, now))
    case 'needs_confirmation':
      return trade.cancelling === null ? [{ kind: 'cancel_begun', because: 'needs_confirmation' }] : []
    case 'cancelled':
      return end(
        trade.cancelling === null
          ? markIfHasty(trade, CANCELLED_ELSEWHERE, now)
          : BY_OUR_CANCEL[trade.cancelling],
      )
    case 'declined':
      return end(markIfHasty(trade, DECLINED, now))
    case 'invalid':
    case 'invalid_items':
      return badEnd(trade, offer.state, now)
    case 'countered':
    case 'expired':
    case 'cancelled_by_second_factor':
      return end(END_OF[offer.state])
    default:
      return offer.state satisfies never
  }
}

const endDoubt = ({ badEnd }: TradeIn<'active'>): TradeEvent[] =>
  badEnd === null ? [] : [{ kind: 'doubt_ended' }]

/** The offer was accepted without a Steam trade, and now has another state. If that lasts, it was not accepted. */
function decideWithdrawal(trade: TradeIn<'active'>, offer: Offer, now: Date): TradeEvent[] {
  if (trade.badEnd?.state !== 'not_accepted') return [{ kind: 'doubted', badEnd: 'not_accepted', at: now }]
  if (!isPast(trade.badEnd.seenAt, WITHDRAWAL_PAUSE_MS, now)) return []
  return [{ kind: 'acceptance_withdrawn' }, ...decideOffer(withoutAcceptance(trade), offer, now)]
}

type HastyEnd = End & { reason: 'declined' | 'cancelled_elsewhere' }

/** Marks an end that came too soon for a person. Counts from the send, because a pause moves the deadline. */
function markIfHasty({ startedAt }: TradeIn<'active'>, end: HastyEnd, now: Date): End {
  return isPast(startedAt, HASTY_MS, now) ? end : { ...end, reason: `${end.reason}${AT_ONCE}` as const }
}

/** An end that Steam sometimes takes back: it counts only if a second read after a pause confirms it. */
function badEnd(trade: TradeIn<'active'>, seenEnd: BadEnd, now: Date): TradeEvent[] {
  if (trade.badEnd?.state !== seenEnd) return [{ kind: 'doubted', badEnd: seenEnd, at: now }]
  if (!isPast(trade.badEnd.seenAt, BAD_END_PAUSE_MS, now)) return []
  const end: End = { state: 'invalid', status: 'tradeHasInvalidItems', reason: seenEnd }
  return [{ kind: 'ended', end, steamHoldUntil: null, at: now }]
}

/** Until when Steam holds the items of an offer; null if the hold is so overdue that the till stops waiting. */
function holdOf({ startedAt }: { startedAt: Date }, { escrowEndsAt }: Offer, now: Date): Date | null {
  const until = escrowEndsAt ?? new Date(startedAt.getTime() + LONGEST_HOLD_MS)
  const isOverdue = isPast(until, OVERDUE_MS, now) && isPast(startedAt, LONGEST_HOLD_MS, now)
  return isOverdue ? null : until
}

/** Judges the offer of a trade that ended without its items. Only Steam's trade record can prove that they arrived. */
function decideHold(trade: EndedTrade, offer: Offer, now: Date): TradeEvent[] {
  const { startedAt, steamHoldUntil } = trade
  if (startedAt === null) return []
  if (offer.state !== 'in_escrow') {
    const isOver = steamHoldUntil !== null && judgeStray(offer).kind === 'nothing'
    return isOver ? [{ kind: 'hold_ended', because: 'seen', at: now }] : []
  }
  const until = holdOf({ startedAt }, offer, now)
  if (steamHoldUntil === null)
    return until === null ? [] : [{ kind: 'hold_seen', offerId: offer.offerId, until }]
  return until === null ? [{ kind: 'hold_ended', because: 'overdue', at: now }] : []
}

type SteamTradeRead = Extract<Fact, { kind: 'steam_trade_read' }>

function decideSteamTrade(trade: Trade, fact: SteamTradeRead, context: Circumstances): TradeEvent[] {
  const { offerId, steamTrade } = fact
  const proof = judgeSteamTrade(trade, steamTrade)
  const { now, protectionDays } = context
  if (isDeliverable(trade)) {
    const gone = proof.kind === 'taken_back' ? proof.assetIds : []
    if (proof.kind === 'delivered' || isPartLeft(steamTrade, gone)) {
      const acceptedAt = trade.state === 'active' ? (trade.acceptedAt ?? now) : now
      const settlesAt = settlementAhead(now, [
        settlementOf(steamTrade, acceptedAt, protectionDays),
        settlementOfOffers(trade, fact, acceptedAt),
      ])
      const reversal: TradeEvent[] = gone.length > 0 ? [{ kind: 'reversed', assetIds: gone, at: now }] : []
      return [{ kind: 'delivered', offerId, steamTrade, settlesAt, at: now }, ...reversal]
    }
    if (trade.state !== 'active') return []
    if (proof.kind === 'failed') return badEnd(trade, 'exchange_failed', now)
    return proof.kind === 'taken_back' ? badEnd(trade, 'exchange_taken_back', now) : endDoubt(trade)
  }
  if (trade.state !== 'held' && trade.state !== 'final') return []
  if (steamTrade.tradeId !== trade.steamTradeId) return []
  return decideDelivered(trade, { proof, steamTrade }, context)
}

/** The end of protection that the trade's offer states, even if the offer was accepted after the trade had ended. */
function settlementOfOffers(
  { settlesAt }: TradeIn<'active'> | EndedTrade,
  { offer }: SteamTradeRead,
  acceptedAt: Date,
): Date | null {
  return later(settlesAt, offer === undefined ? null : offeredSettlement(offer, acceptedAt))
}

/** True if only some items went back before the till saw the delivery. The bot has the rest, which are credited. */
const isPartLeft = ({ received }: SteamTrade, gone: readonly string[]): boolean =>
  gone.length > 0 && gone.length < received.length && received.every(({ newAssetId }) => newAssetId !== null)

type RecordRead = { proof: ReturnType<typeof judgeSteamTrade>; steamTrade: SteamTrade }

function decideDelivered(
  trade: TradeIn<'held' | 'final'>,
  { proof, steamTrade }: RecordRead,
  { now, protectionDays }: Circumstances,
): TradeEvent[] {
  const gone = proof.kind === 'taken_back' ? proof.assetIds.filter((id) => !trade.reversed.includes(id)) : []
  const reversal: TradeEvent[] = gone.length > 0 ? [{ kind: 'reversed', assetIds: gone, at: now }] : []
  const isAllReversed = gone.length + trade.reversed.length === trade.items.length
  if (isAllReversed || (proof.kind !== 'delivered' && proof.kind !== 'taken_back')) return reversal
  const reported = settlementOf(steamTrade, trade.acceptedAt, protectionDays)
  if (trade.state === 'held') return [...reversal, ...decideHeld(trade, reported, now)]
  if (reported !== null && reported > now) {
    return [...reversal, { kind: 'protection_found', settlesAt: reported, at: now }]
  }
  return [...reversal, ...lookOf(trade, now, reported)]
}

/** The settlement never moves to an earlier time: Steam sometimes clears it, and an operator's setting may change. */
function decideHeld(trade: TradeIn<'held'>, reported: Date | null, now: Date): TradeEvent[] {
  const settlesAt = reported !== null && reported > trade.settlesAt ? reported : trade.settlesAt
  const longer: TradeEvent[] = settlesAt > trade.settlesAt ? [{ kind: 'prolonged', settlesAt }] : []
  if (now < settlesAt) return [...longer, ...lookOf(trade, now)]
  // If the release is at least a day late, this read also serves as the last look.
  const last: TradeEvent[] = now >= lastLookAfter(settlesAt) ? [{ kind: 'looked', next: null }] : []
  return [...longer, { kind: 'released', at: now }, ...last]
}

/**
 * `settledAt`: when the protection of a final trade ended. An operator can ask for a look at any time; the last look, a
 * day after the settlement, follows all the same.
 */
function lookOf(
  { lookAt, deliveredAt }: TradeIn<'held' | 'final'>,
  now: Date,
  settledAt: Date | null = null,
): TradeEvent[] {
  if (lookAt === null || now < lookAt) return []
  const lastAt = settledAt === null ? null : lastLookAfter(settledAt)
  const next = nextLookOf(deliveredAt, now) ?? (lastAt !== null && now < lastAt ? lastAt : null)
  return [{ kind: 'looked', next }]
}
