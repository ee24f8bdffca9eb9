/**
 * Decides which side caused a refusal, and what follows. Pure. The cause can be the shopper, the bot or Steam; sometimes
 * Steam does not say which. Nothing was sent, so unless the cause is the shopper or Steam, the request can move to
 * another bot.
 */
import type { ErrorCode, RefusalCause } from '../../contract/errors.ts'
import type { BarReason } from '../bots/bar.ts'
import type { Refusal } from '../db/trade-tables.ts'
import { isPast } from '../kit/clock.ts'

/**
 * `steam`: Steam has trouble with every bot. `unclear`: Steam gave no reason, or did not say whom it concerns. `pair`:
 * this bot cannot serve this shopper now, which is no reason to bar the bot.
 */
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
 * The most bots that may try one request, and the time after which it moves to no other bot. The time is long, because
 * in a crowd most of it passes in the queue of the first bot.
 */
export const MOST_BOTS = 4
const MOVING_MS = 60_000

/** How the shopper's request reached this bot. */
export type Attempt = {
  /** When the shopper asked. */
  intendedAt: Date
  /** Bots that tried the same request before. */
  tried: readonly bigint[]
  /**
   * The bot among `tried` that Steam refused without a reason. If Steam then takes the offer from another bot, the
   * refused bot is doubted.
   */
  doubted: bigint | null
}

/**
 * `end`: the shopper gets `code`. `move`: another bot tries. `move_in_doubt`: another bot tries, and its result shows
 * whether this bot was the cause.
 */
export type Verdict = { code: ErrorCode; bars: BarReason | null; next: 'end' | 'move' | 'move_in_doubt' }

/** True while another bot may still try the request. */
export function mayMove({ intendedAt, tried }: Attempt, now: Date): boolean {
  return tried.length + 1 < MOST_BOTS && !isPast(intendedAt, MOVING_MS, now)
}

export function judgeRefusal(refusal: Refusal, attempt: Attempt, now: Date): Verdict {
  const meaning = MEANINGS[refusal]
  const { side, code } = meaning
  const bars = meaning.side === 'bot' ? meaning.bars : null
  if (!mayMove(attempt, now) || side === 'shopper' || side === 'steam') return { code, bars, next: 'end' }
  if (side !== 'unclear') return { code, bars, next: 'move' }
  // If Steam refuses a second bot without a reason, the shopper is the cause.
  return { code, bars, next: attempt.doubted === null ? 'move_in_doubt' : 'end' }
}

/** True if the cause is the bot, or this pair of bot and shopper, so another bot may serve the shopper. */
export function isOfBotOrPair(refusal: Refusal): boolean {
  const { side } = MEANINGS[refusal]
  return side === 'bot' || side === 'pair'
}

/** Returns the cause to report with the refusal's code; undefined if the code says enough, or Steam gave no reason. */
export function causeOf(refusal: Refusal): RefusalCause | undefined {
  const meaning = MEANINGS[refusal]
  return meaning.side === 'bot' ? undefined : meaning.cause
}
