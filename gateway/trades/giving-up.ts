/** Trades whose end Steam never reported: when the till stops waiting, and how they end then. Pure. */
import { plus } from '../kit/clock.ts'
import { DAY_MS } from '../kit/duration.ts'
import { LONGEST_HOLD_MS } from '../steam/offer-times.ts'
import { LAST_REVIEW_MS } from './alarm.ts'
import type { End, GivenUp, Trade, TradeEvent } from './trade.ts'

/** How long to wait for Steam's answer: as long as its longest hold, and longer than any offer stays open. */
export const WAIT_MS = LONGEST_HOLD_MS

/**
 * The till stops waiting for a hold this long after its end, but not within `WAIT_MS` of the send, even if Steam still
 * reports it.
 */
export const OVERDUE_MS = DAY_MS

/**
 * Until when to wait for Steam to report how the offer ended, or what became of a final trade. For a final trade, the
 * wait counts from the look that is due. Null if no send was begun, nothing is left to ask, or only the operator can
 * decide about held credit.
 */
export function waitsUntil(trade: Trade): Date | null {
  switch (trade.state) {
    case 'sending':
    case 'unknown':
    case 'active':
      return plus(trade.startedAt, WAIT_MS)
    case 'refused':
    case 'abandoned':
    case 'declined':
    case 'countered':
    case 'invalid':
    case 'timed_out': {
      if (trade.startedAt === null) return null
      const { steamHoldUntil, endedAt } = trade
      const lastAsk =
        steamHoldUntil === null ? plus(endedAt, LAST_REVIEW_MS) : plus(steamHoldUntil, OVERDUE_MS)
      const waitEnd = plus(trade.startedAt, WAIT_MS)
      return new Date(Math.max(lastAsk.getTime(), waitEnd.getTime()))
    }
    case 'final':
      return trade.lookAt === null ? null : plus(trade.lookAt, WAIT_MS)
    case 'intended':
    case 'held':
    case 'reversed':
      return null
    default:
      return trade satisfies never
  }
}

/**
 * Gives up an open trade, the wait for a hold, or the checks of a trade that Steam may still change. Proof of delivery
 * overrules such an end, as it does any other.
 */
export function decideGivenUp(trade: Trade, because: GivenUp, now: Date): TradeEvent[] {
  const until = waitsUntil(trade)
  if (because === 'unresolved' && (until === null || now < until)) return []
  switch (trade.state) {
    case 'intended':
      return [{ kind: 'refused', reason: 'no_bot_available', refusal: null, at: now }]
    case 'sending':
    case 'unknown':
      return [{ kind: 'abandoned', reason: because, at: now }]
    case 'active':
      return [{ kind: 'ended', end: endOf(because), steamHoldUntil: null, at: now }]
    case 'held':
      return because === 'bot_retired' ? [{ kind: 'unwatched', because }] : []
    case 'final': {
      if (because === 'ended_by_operator' || trade.lookAt === null) return []
      const unwatched: TradeEvent = { kind: 'unwatched', because }
      // While a look is due, the history is read back to this trade, so no look may stay due forever.
      return because === 'unresolved' ? [unwatched, { kind: 'looked', next: null }] : [unwatched]
    }
    case 'reversed':
      return []
    case 'refused':
    case 'abandoned':
    case 'declined':
    case 'countered':
    case 'invalid':
    case 'timed_out':
      if (trade.steamHoldUntil !== null) return [{ kind: 'hold_ended', because, at: now }]
      return because === 'ended_by_operator' || trade.startedAt === null
        ? []
        : [{ kind: 'unwatched', because }]
    default:
      return trade satisfies never
  }
}

const endOf = (reason: GivenUp): End => ({ state: 'timed_out', status: 'tradeTimeout', reason })

type Line = { level: 'info' | 'warn' | 'error'; message: string }

const END_LINES: Record<GivenUp, Line> = {
  unresolved: {
    level: 'error',
    message: 'trade was ended, because Steam did not say in 15 days what became of it',
  },
  bot_retired: { level: 'error', message: 'trade was ended, because its bot is retired' },
  ended_by_operator: { level: 'warn', message: 'trade was ended by the operator' },
}

const LINES: ReadonlyMap<string, Line> = new Map(Object.entries(END_LINES))

/** The log line of a trade that the till gave up for this reason; undefined for any other reason. */
export function lineOfEnd(reason: string): Line | undefined {
  return LINES.get(reason)
}

export function lineOfHold(because: 'seen' | 'overdue' | GivenUp): Line {
  switch (because) {
    case 'seen':
      return { level: 'info', message: 'hold by Steam ended without a delivery' }
    case 'overdue':
      return {
        level: 'error',
        message: 'Steam still holds the items of an offer, a day after the hold should have ended',
      }
    case 'unresolved':
      return {
        level: 'error',
        message: 'Steam has not reported the result of a hold, which should have ended at least a day ago',
      }
    case 'bot_retired':
      return {
        level: 'error',
        message: 'wait for the end of a hold by Steam was given up, because the bot is retired',
      }
    case 'ended_by_operator':
      return { level: 'warn', message: 'wait for the end of a hold by Steam was given up by the operator' }
    default:
      return because satisfies never
  }
}

export function lineOfUnwatched({ state }: Trade): string {
  if (state === 'held') return 'held credit was left to the operator, because no bot can ask Steam about it'
  return state === 'final' ? 'checks of a delivered trade were ended' : 'reviews of a trade were ended'
}
