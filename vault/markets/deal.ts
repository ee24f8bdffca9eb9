/** The next step of a deal, from its record and Steam's data. Pure. */
import type { EndedOffer, SeenOffer } from '../giving/gift.ts'
import type { Deal } from './book.ts'
import { LEAST_LEFT_S } from './judge-due.ts'
import type { Market } from './market.ts'

/**
 * `abandon`: give up, because no offer was made. `look`: look for the offer on Steam. `report`: report the offer to the
 * market. `ask`: ask whether the market called the deal off. `prove`: read Steam's record of the trade. `note_end`:
 * record that the offer ended without a trade.
 */
export type Step =
  | { kind: 'send' }
  | { kind: 'look' }
  | { kind: 'abandon' }
  | { kind: 'confirm' }
  | { kind: 'report' }
  | { kind: 'ask' }
  | { kind: 'cancel' }
  | { kind: 'prove'; steamTradeId: string }
  | { kind: 'note_end'; how: EndedOffer }
  | { kind: 'wait' }

/** Abandons a deal whose offer was not sent within this time: the market cancels deals after five minutes. */
const BEGIN_WITHIN_MS = 4 * 60_000
/**
 * The longest time from the intent to a confirmation. It does not begin when the offer is found, which after a restart
 * can be long after the sale: by then, the market may already want the item for the next sale.
 */
const CONFIRM_WITHIN_MS = 5 * 60_000
/**
 * With less time left than this, a confirmation may come too late for the market: the vault may wait 13 s for its turns
 * (vault/steam/pace.ts), then Steam must answer, and the market.csgo.com family hears of the offer only afterwards.
 */
const CONFIRM_LEAST_LEFT_MS = 20_000
/** Cancels an offer after this time: a sale whose offer stays open for hours counts as not handed over. */
const CANCEL_AFTER_MS = 10 * 60_000
/**
 * If the answer to a send was lost, the offer appears on Steam within this time, or it was never made. A deal is
 * abandoned after LEAST_LOOKS looks without the offer, the last one more than this time after the send.
 */
const APPEARS_WITHIN_MS = 2 * 60_000
const LEAST_LOOKS = 3

export type DealBeforeOffer = Extract<Deal, { state: 'intended' | 'sending' | 'unknown' }>
export type DealWithOffer = Extract<Deal, { state: 'active' }>

/** `dueByMs`: the end of the sale's time limit. Undefined if this process has not heard of it from the market. */
type Time = { dueByMs: number | undefined; now: Date }

/** The step before the deal's offer is known. Looks for an offer that may exist, and never sends it again. */
export function stepBefore(deal: DealBeforeOffer, { dueByMs, now }: Time): Step {
  if (deal.state === 'intended') {
    // The absolute value, because a clock that was set back must not keep the items from being listed for long.
    if (Math.abs(now.getTime() - deal.intendedAt.getTime()) > BEGIN_WITHIN_MS) return { kind: 'abandon' }
    if (dueByMs === undefined) return { kind: 'wait' }
    return dueByMs - now.getTime() < LEAST_LEFT_S * 1_000 ? { kind: 'abandon' } : { kind: 'send' }
  }
  const { missed, missedAt, begunAt } = deal
  // The time since the send proves nothing, because the vault may have been down and not looked.
  const isOver = missed >= LEAST_LOOKS && Number(missedAt) - Number(begunAt) > APPEARS_WITHIN_MS
  return isOver ? { kind: 'abandon' } : { kind: 'look' }
}

/** The step after Steam has shown the offer. */
export function stepAfter(
  deal: DealWithOffer,
  seen: SeenOffer,
  { order, dueByMs, now }: Time & { order: Market['order'] },
): Step {
  // The absolute values, because a clock that was set back must not keep an offer open for long.
  const openMs = Math.abs(now.getTime() - deal.sentAt.getTime())
  const intendedMs = Math.abs(now.getTime() - deal.intendedAt.getTime())
  switch (seen.state) {
    case 'accepted':
      return seen.steamTradeId === null
        ? { kind: 'wait' }
        : { kind: 'prove', steamTradeId: seen.steamTradeId }
    case 'ended':
      return { kind: 'note_end', how: seen.how }
    case 'in_escrow':
      // Cancelling a trade in escrow would keep the account from trading for a week.
      return { kind: 'wait' }
    case 'needs_confirmation':
      if (intendedMs > CONFIRM_WITHIN_MS) return { kind: 'cancel' }
      if (dueByMs !== undefined && dueByMs - now.getTime() < CONFIRM_LEAST_LEFT_MS) return { kind: 'cancel' }
      return order === 'report_then_confirm' && !deal.isReported ? { kind: 'report' } : { kind: 'confirm' }
    case 'active':
      if (openMs > CANCEL_AFTER_MS) return { kind: 'cancel' }
      return deal.isReported ? { kind: 'ask' } : { kind: 'report' }
    default:
      return seen satisfies never
  }
}
