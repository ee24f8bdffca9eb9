/**
 * Decides which side caused a refusal, and what follows. Pure. Steam refuses because of the shopper, because of the
 * bot, or without saying why. Nothing was sent, so if the bot is the cause, the trade moves to another bot.
 */
import type { ErrorCode, RefusalCause } from '../../contract/errors.ts'
import type { BarReason } from '../bots/bar.ts'
import type { Refusal } from '../db/trade-tables.ts'
import { isPast } from '../kit/clock.ts'

/** `pair`: this bot cannot serve this shopper now, but it can serve others. */
type Side = 'shopper' | 'steam' | 'unclear' | 'pair' | 'bot'

type Meaning =
  | { side: Exclude<Side, 'bot'>; code: ErrorCode; cause?: RefusalCause }
  | { side: 'bot'; code: ErrorCode; bars: BarReason }

const ofBot = (bars: BarReason): Meaning => ({ side: 'bot', code: 'no_bot_available', bars })
const ofShopper = (code: ErrorCode, cause?: RefusalCause): Meaning => ({
  side: 'shopper',
  code,
  ...(cause && { cause }),
})

const MEANINGS: Record<Refusal, Meaning> = {
  invalid_token: ofShopper('trade_refused', 'link_expired'),
  partner_cannot_trade: ofShopper('trade_refused', 'account_restricted'),
  partner_trade_ban: ofShopper('trade_refused', 'trade_ban'),
  partner_hold: ofShopper('trade_hold'),
  items_gone: ofShopper('items_unavailable'),
  item_server_down: { side: 'steam', code: 'steam_unavailable' },
  access_denied: { side: 'unclear', code: 'trade_refused' },
  renamed: { side: 'unclear', code: 'trade_refused' },
  too_many_offers: { side: 'unclear', code: 'no_bot_available' },
  too_many_to_partner: { side: 'pair', code: 'no_bot_available' },
  session_dead: { side: 'pair', code: 'no_bot_available' },
  not_our_turn: { side: 'pair', code: 'no_bot_available' },
  out_of_reach: { side: 'pair', code: 'no_bot_available' },
  not_taken_up: { side: 'pair', code: 'no_bot_available' },
  bot_cannot_trade: ofBot('bot_cannot_trade'),
  own_hold: ofBot('own_hold'),
  too_many_in_all: ofBot('too_many_in_all'),
  inventory_full: ofBot('inventory_full'),
  rate_limited: ofBot('rate_limited'),
}

/**
 * How many bots may try one wish while its shopper waits. In a crowd most of the wait passes in the queue of the first bot,
 * so the wish must still be able to move to bots that become free later.
 */
export const MOST_BOTS = 4
export const MOVING_MS = 60_000

/** How the shopper's wish came to this bot. */
export type Attempt = {
  /** When the shopper asked. */
  intendedAt: Date
  /** Bots that Steam refused the same wish before. */
  tried: readonly bigint[]
  /** The one of them that was refused without a reason. If this bot is not refused, that one is doubted. */
  doubted: bigint | null
}

/** `move`: another bot tries. With `doubt`, its result also shows whether this bot was the cause. */
export type Verdict = { code: ErrorCode; bars: BarReason | null; next: 'end' | 'move' | 'move_in_doubt' }

/** True while the wish may still be tried at another bot. */
export function mayMove({ intendedAt, tried }: Attempt, now: Date): boolean {
  return tried.length + 1 < MOST_BOTS && !isPast(intendedAt, MOVING_MS, now)
}

export function judgeRefusal(refusal: Refusal, attempt: Attempt, now: Date): Verdict {
  const meaning = MEANINGS[refusal]
  const { side, code } = meaning
  const bars = meaning.side === 'bot' ? meaning.bars : null
  if (!mayMove(attempt, now) || side === 'shopper' || side === 'steam') return { code, bars, next: 'end' }
  if (side !== 'unclear') return { code, bars, next: 'move' }
  // Two bots were refused without a reason, so the cause is the shopper.
  return { code, bars, next: attempt.doubted === null ? 'move_in_doubt' : 'end' }
}

/** True if another bot may serve the shopper after this attempt. */
export function isOfBot(refusal: Refusal): boolean {
  const { side } = MEANINGS[refusal]
  return side === 'bot' || side === 'pair'
}

/** Returns Steam's reason if the shopper is the cause; undefined if Steam gave none. */
export function causeOf(refusal: Refusal): RefusalCause | undefined {
  const meaning = MEANINGS[refusal]
  return meaning.side === 'bot' ? undefined : meaning.cause
}
