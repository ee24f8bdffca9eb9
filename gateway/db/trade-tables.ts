import type { Generated } from 'kysely'
import type { Game, Phase } from '../../contract/games.ts'
import type { Currency } from '../../contract/money.ts'

/** When a store can spend credit: within its limit at delivery (`on_accept`), or when Steam's protection has ended. */
export type CreditMode = 'on_accept' | 'on_release'

/** The side that pays for a reversal of credit that was already available. */
export type Liability = 'operator' | 'store'

/** The offer is to be sent, may have been sent, or is open. A deposit has at most one such trade. */
export const OPEN_TRADE_STATES = ['intended', 'sending', 'unknown', 'active'] as const

/** States of a trade whose items the bot received. In `reversed`, they went back. */
export const DELIVERED_TRADE_STATES = ['held', 'final', 'reversed'] as const

/** States of a trade that ended without the items: the shopper may try again. */
export const RETRYABLE_TRADE_STATES = ['refused', 'abandoned'] as const

/** States of a trade that ended without the items, and that ended its deposit too. */
export const FAILED_TRADE_STATES = ['declined', 'countered', 'invalid', 'timed_out'] as const

export type TradeStateColumn =
  | (typeof OPEN_TRADE_STATES)[number]
  | (typeof DELIVERED_TRADE_STATES)[number]
  | (typeof RETRYABLE_TRADE_STATES)[number]
  | (typeof FAILED_TRADE_STATES)[number]

/** Reasons why Steam refuses an offer (`RefusedReason` in steam/steam.ts), or why the till does not send it. */
export const REFUSALS = [
  'invalid_token',
  'partner_cannot_trade',
  'partner_trade_ban',
  'bot_cannot_trade',
  'too_many_to_partner',
  'too_many_in_all',
  'too_many_offers',
  'renamed',
  'items_gone',
  'inventory_full',
  'item_server_down',
  'access_denied',
  'session_dead',
  'rate_limited',
  'not_our_turn',
  // Steam would hold the trade for days, because of the shopper's account or of the bot's.
  'partner_hold',
  'own_hold',
  // Steam did not answer this bot right before the send.
  'out_of_reach',
  // No process took up the trade for the bot.
  'not_taken_up',
] as const

export type Refusal = (typeof REFUSALS)[number]

export type TradeTable = {
  id: Generated<bigint>
  deposit_id: bigint
  bot_id: bigint
  quote_id: string
  game: Game
  secret_code: string
  partner_steam_id: string
  /** The token in clear text, written by an earlier version and not encrypted yet. */
  partner_token: string | null
  partner_token_sealed: Generated<Buffer | null>
  state: Generated<TradeStateColumn>
  reason: string | null
  currency: Currency
  total: bigint
  gross_total: bigint
  lease_epoch: Generated<bigint>
  send_started_at: Date | null
  /** How many searches did not find the offer of an `unknown` trade. */
  missed_reads: Generated<number>
  steam_offer_id: string | null
  steam_trade_id: string | null
  deadline: Date | null
  accepted_at: Date | null
  /** The end without delivery that one reading of the offer showed. A second reading must confirm it. */
  bad_end: string | null
  bad_end_seen_at: Date | null
  delivered_at: Date | null
  settles_at: Date | null
  /** When Steam first reported protection of a trade that was credited without any. */
  protection_found_at: Generated<Date | null>
  /** When the next look at a delivered trade is due; null if none is. */
  look_at: Date | null
  /** Why the till is cancelling the offer on Steam. */
  cancelling: 'deadline' | 'needs_confirmation' | 'store' | null
  held_amount: Generated<bigint>
  reversed_amount: Generated<bigint>
  /** The store's settings at delivery: later changes do not touch this trade. */
  credit_mode: Generated<CreditMode | null>
  liability: Generated<Liability | null>
  risk_limit_usd_cents: Generated<bigint | null>
  /** Confirmed by an operator, not by Steam. */
  credited_by_operator: Generated<boolean>
  released_by_operator: Generated<boolean>
  /** By an operator, before Steam's protection ended. */
  released_early: Generated<boolean>
  reversed_by_operator: Generated<boolean>
  /**
   * The promise to the shopper before the offer: at least this amount is credited at once, and the rest is held for
   * `promised_days`. Null if Steam does not protect trades of the game. The promise uses the store's limit while the
   * trade is open.
   */
  promised_amount: Generated<bigint | null>
  promised_days: Generated<number | null>
  /** The amounts that use the store's limit: credited before Steam's protection ended, or lost to a reversal. */
  at_risk_amount: Generated<bigint>
  /** When lost credit stops using the limit. */
  at_risk_until: Generated<Date | null>
  /** When the next step is due; null if none is. A sweep that wakes the bot postpones it. */
  due_at: Date | null
  created_at: Generated<Date>
  ended_at: Date | null
  /** When the shopper requested the trade. If another bot takes over, its trade keeps this time. */
  intended_at: Generated<Date>
  tried_bots: Generated<bigint[]>
  /** The bot whose offer Steam refused without giving a reason. */
  doubted_bot: Generated<bigint | null>
  refusal: Generated<Refusal | null>
  /** Steam holds the items of an ended trade until then. */
  steam_hold_until: Generated<Date | null>
  /** The trade of the bot that took over; null if none did. */
  moved_to: Generated<bigint | null>
}

export type TradeItemTable = {
  trade_id: bigint
  asset_id: string
  app_id: number
  context_id: string
  name: string
  market_hash_name: string
  phase: Generated<Phase | null>
  /** The shopper's credit for the item, and its price before commission. */
  price: bigint
  gross: bigint
  /**
   * True while the trade reserves the item: until it has received the item or has ended without it. Items in escrow
   * stay reserved after the end. Only one trade can reserve an item.
   */
  live: Generated<boolean>
  received_asset_id: string | null
  reversed_at: Date | null
}
