/** The next step of a trade and its time, from its state and the clock. Pure. */
import type { TradeLane } from '../bots/bot.ts'
import { isPast, plus } from '../kit/clock.ts'
import { OFFER_OVER_MS } from '../steam/offer-times.ts'
import { type EndedTrade, isEnded, type Trade } from './trade.ts'

/** An intent that no bot takes up in this time is refused, because the shopper has waited long enough. */
export const INTENT_LIFE_MS = 60_000

/** If a send has no result after this time, its process counts as lost. */
const SEND_LOST_MS = 20_000

/**
 * A bad end (Steam shows the offer as invalid, or its trade as failed or taken back) counts only if a read after this
 * pause confirms it.
 */
export const BAD_END_PAUSE_MS = 10_000
/** How long to read often to confirm a bad end. After that, the usual pauses apply until a read decides. */
const CONFIRM_MS = 600_000

/** Pauses until the next read. `MISSED_MS`: after a search that missed the offer of an unknown send. */
const SOON_MS = 5_000
const MISSED_MS = 15_000
const SLOW_MS = 60_000

/** How long to search frequently for the offer of an unknown send, whose shopper is waiting. */
const SEARCH_OFTEN_MS = 3_600_000

/** The longest pause between two looks at a trade that waits for Steam. */
export const LONGEST_GAP_MS = 3_600_000

/** The pause grows with the time waited: after a day without an answer, ask every hour. */
const PAUSES: readonly { waitedMs: number; pauseMs: number }[] = [
  { waitedMs: 86_400_000, pauseMs: LONGEST_GAP_MS },
  { waitedMs: 3_600_000, pauseMs: 300_000 },
  { waitedMs: 120_000, pauseMs: SLOW_MS },
]

/** How long to review a trade that ended without its items, because Steam may report late. */
export const LAST_REVIEW_MS = 24 * 3_600_000
/** When to review it, from its end. */
const REVIEWS_MS = [60_000, 600_000, 3_600_000, 6 * 3_600_000, LAST_REVIEW_MS]

/** How often to read an offer in escrow, and how often once its escrow should have ended. */
const ESCROW_READ_MS = 6 * 3_600_000
const ESCROW_OVERDUE_READ_MS = 3_600_000

/** The step that is due now, for the holder of the bot's lease. */
export type DueStep =
  | 'send'
  /** Refuse an intent that no bot has taken up in time. */
  | 'refuse'
  /** Search the sent offers for the offer of a send without an answer. */
  | 'reconcile'
  /** Read Steam's trade record of an accepted offer. */
  | 'prove'
  | 'cancel'
  /** Read the offer: an open one, or an accepted one without a Steam trade yet. */
  | 'read'
  /** Look for a late acceptance of the offer of a trade that ended without its items. */
  | 'review'
  /** Read the trade record when Steam's protection should have ended. */
  | 'settle'
  /** Read the trade record of a delivery, in case Steam protects it after all, or it was taken back. */
  | 'look_again'
  | 'nothing'

/** `isSteamDown`: offers fail for all bots, so the shopper's time is paused. */
export function dueStep(trade: Trade, now: Date, { isSteamDown = false } = {}): DueStep {
  switch (trade.state) {
    case 'intended':
      return isPast(trade.createdAt, INTENT_LIFE_MS, now) ? 'refuse' : 'send'
    case 'sending':
      return isPast(trade.startedAt, SEND_LOST_MS, now) ? 'reconcile' : 'nothing'
    case 'unknown':
      return 'reconcile'
    case 'active':
      if (trade.acceptedAt !== null) return trade.steamTradeId === null ? 'read' : 'prove'
      if (trade.cancelling !== null) return 'cancel'
      return now >= trade.deadline && !isSteamDown ? 'cancel' : 'read'
    case 'refused':
    case 'abandoned':
    case 'declined':
    case 'countered':
    case 'invalid':
    case 'timed_out':
      // At the trade's end, `nextReview` is null only if nothing was ever sent.
      return nextReview(trade, trade.endedAt) === null ? 'nothing' : 'review'
    case 'held':
      if (now >= trade.settlesAt) return 'settle'
      return trade.lookAt !== null && now >= trade.lookAt ? 'look_again' : 'nothing'
    case 'final':
      return trade.lookAt !== null && now >= trade.lookAt ? 'look_again' : 'nothing'
    case 'reversed':
      return 'nothing'
    default:
      return trade satisfies never
  }
}

const LANES: Record<DueStep, TradeLane | undefined> = {
  send: 'sends',
  refuse: 'sends',
  cancel: 'cancels',
  reconcile: 'reads',
  prove: 'reads',
  read: 'reads',
  settle: 'settling',
  look_again: 'settling',
  review: 'reviews',
  nothing: undefined,
}

export const laneOf = (step: DueStep): TradeLane | undefined => LANES[step]

/** When to advance the trade next, unless something wakes it earlier; null if nothing is left to do. */
export function alarm(trade: Trade, now: Date): Date | null {
  switch (trade.state) {
    case 'intended':
      return plus(now, SOON_MS)
    case 'sending':
      // After `SEND_LOST_MS` the offer is searched for. Unreadable rows in the list can keep the trade in this state.
      return isPast(trade.startedAt, SEND_LOST_MS, now)
        ? nextAsk(trade.startedAt, now)
        : plus(trade.startedAt, SEND_LOST_MS + SOON_MS)
    case 'unknown':
      if (isPast(trade.startedAt, SEARCH_OFTEN_MS, now)) return nextAsk(trade.startedAt, now)
      return plus(now, trade.missedReads === 0 ? SOON_MS : MISSED_MS)
    case 'active':
      // A second more, so the read is not a moment too early to confirm the bad end.
      if (trade.badEnd !== null && !isPast(trade.badEnd.seenAt, CONFIRM_MS, now))
        return plus(now, BAD_END_PAUSE_MS + 1_000)
      if (trade.acceptedAt !== null) return nextAsk(trade.acceptedAt, now)
      if (trade.cancelling !== null || now >= trade.deadline) return nextAsk(trade.deadline, now)
      return trade.deadline
    case 'refused':
    case 'abandoned':
    case 'declined':
    case 'countered':
    case 'invalid':
    case 'timed_out':
      return trade.steamHoldUntil === null
        ? nextReview(trade, now)
        : nextEscrowRead(trade.steamHoldUntil, now)
    case 'held': {
      const { settlesAt, lookAt } = trade
      const next = lookAt !== null && lookAt < settlesAt ? lookAt : settlesAt
      return now >= next ? nextAsk(next, now, SLOW_MS) : next
    }
    case 'final':
      return trade.lookAt !== null && now >= trade.lookAt ? nextAsk(trade.lookAt, now, SLOW_MS) : trade.lookAt
    case 'reversed':
      return null
    default:
      return trade satisfies never
  }
}

function nextEscrowRead(steamHoldUntil: Date, now: Date): Date {
  if (now >= steamHoldUntil) return plus(now, ESCROW_OVERDUE_READ_MS)
  const next = plus(now, ESCROW_READ_MS)
  return next < steamHoldUntil ? next : steamHoldUntil
}

/** When to ask Steam again after it did not answer. */
export function retryAt(trade: Trade, now: Date): Date | null {
  return isEnded(trade) ? nextAsk(trade.endedAt, now, SLOW_MS) : alarm(trade, now)
}

/**
 * When to review an ended trade again after Steam gave no answer about its offer. If Steam holds no items and the offer
 * can no longer be accepted, only the planned reviews are left, in case it was accepted in time.
 */
export function reviewAgainAt(trade: EndedTrade, now: Date): Date | null {
  const isOver = trade.startedAt === null || isPast(trade.startedAt, OFFER_OVER_MS, now)
  if (trade.steamHoldUntil === null && isOver) return nextReview(trade, now)
  return nextAsk(trade.endedAt, now, SLOW_MS)
}

/** When to read the next pages of a list: in a minute, or at `next` if that is sooner; null if `next` is null. */
export function readOnAt(next: Date | null, now: Date): Date | null {
  const soon = plus(now, SLOW_MS)
  return next !== null && next > soon ? soon : next
}

/** When to review an ended trade next; null if reviews are over or nothing was ever sent. */
export function nextReview(trade: Pick<EndedTrade, 'startedAt' | 'endedAt'>, now: Date): Date | null {
  if (trade.startedAt === null) return null
  const ms = REVIEWS_MS.find((waitMs) => trade.endedAt.getTime() + waitMs > now.getTime())
  return ms === undefined ? null : plus(trade.endedAt, ms)
}

/** When to ask Steam next. The pause until then grows with the time since `since`, and is at least `leastMs`. */
export function nextAsk(since: Date, now: Date, leastMs = 0): Date {
  const { pauseMs } = PAUSES.find(({ waitedMs }) => isPast(since, waitedMs, now)) ?? { pauseMs: SOON_MS }
  return plus(now, Math.max(pauseMs, leastMs))
}
