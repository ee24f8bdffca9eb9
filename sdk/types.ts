/** Written by scripts/openapi.ts. */
export type Deposit = {
  id: string
  externalId: string
  /** Number of the last event that told of this deposit; 0 before the first. Of two versions of a deposit, keep the one with the larger sequence. */
  sequence: number
  /** Send the shopper here. */
  url: string
  status:
    | 'created'
    | 'pending'
    | 'succeeded'
    | 'paymentTimeout'
    | 'tradeTimeout'
    | 'tradeDeclined'
    | 'tradeCountered'
    | 'tradeHasInvalidItems'
    | (string & {})
  /** Why it ended without items: `expired`, `cancelled_by_store`, or the reason of its trade. */
  endReason: string | null
  currency: 'USD' | 'EUR' | 'BRL' | (string & {})
  /** What you were credited, once succeeded; else null. The operator’s commission is off already. */
  amount: number | null
  /** The part of amount that cannot be paid out before heldUntil. */
  heldAmount: number
  heldUntil: string | null
  /** The worth of the items that their sender took back: take it from your shopper. */
  reversedAmount: number
  /** What that cost you here: book it with the till. Null only in events of version 0.2.0 and before. */
  chargedAmount: number | null
  /** amount less heldAmount and chargedAmount. */
  availableAmount: number
  /** Equals targetAmount where you gave that. */
  minAmount: number | null
  maxAmount: number | null
  targetAmount: number | null
  games: ('cs' | 'dota' | 'rust' | 'tf' | (string & {}))[]
  /** Null: the page follows the shopper’s own preference. */
  language: 'en' | 'ru' | (string & {}) | null
  /** The origin whose pages may frame it; null: none may. */
  embedOrigin: string | null
  customerReference: string | null
  customerLabel: string | null
  /** Who should pay, as you said. `trade.partnerSteamId` is who did. */
  shopper: { steamId: string; lock: boolean } | null
  metadata: { [key: string]: string }
  createdAt: string
  expiresAt: string
  /** The trade that is under way or ended the deposit. */
  trade: {
    game: 'cs' | 'dota' | 'rust' | 'tf' | (string & {})
    /** The 64-bit Steam id of the account whose items these are. Null only in events of version 0.2.0 and before. */
    partnerSteamId: string | null
    steamOfferId: string | null
    /** Steam’s id of the trade, once the offer was accepted. */
    steamTradeId: string | null
    /** Why it ended as it did, such as `deadline` or `declined`. */
    reason: string | null
    items: {
      assetId: string
      /** In the shopper’s language. An owner can rename an item, so this may be their own words. */
      name: string
      /** The name by which Steam’s market knows it. Null only in events of version 0.2.0 and before. */
      marketHashName: string | null
      price: number
      /** True once its sender took it back under Steam’s trade protection. */
      reversed: boolean
    }[]
  } | null
}

export type DepositEvent = {
  /** The same in every attempt, and `webhook-id` of the webhook. */
  id: string
  /** When the cause happened. */
  timestamp: string
  /** Its number in your event log: 1, 2, 3 … without gaps, until `epoch.started` leaves some out. */
  sequence: number
  type:
    | 'deposit.pending'
    | 'deposit.succeeded'
    | 'deposit.amount_increased'
    | 'deposit.payment_timeout'
    | 'deposit.trade_timeout'
    | 'deposit.trade_declined'
    | 'deposit.trade_countered'
    | 'deposit.trade_has_invalid_items'
    | 'deposit.funds_available'
    | 'deposit.reversed'
    | (string & {})
  /** The deposit as it was then. */
  data: Deposit
}

export type DepositList = {
  /** Newest first. */
  deposits: Deposit[]
  /** Give this as `after` for the next page; null on the last one. */
  next: string | null
}

export type EpochEvent = {
  /** The same in every attempt, and `webhook-id` of the webhook. */
  id: string
  /** When the cause happened. */
  timestamp: string
  /** Its number in your event log: 1, 2, 3 … without gaps, until `epoch.started` leaves some out. */
  sequence: number
  type: 'epoch.started'
  data: {
    /** Which one begins: 2 for the first that a store hears of. */
    epoch: number
    /** The last event of before that the till still has. It has lost those that you read after it; the numbers up to this event are never given. */
    previousSequence: number
  }
}

export type Event = DepositEvent | EpochEvent

export type EventList = {
  /** In their order, without gaps. */
  events: Event[]
  /** Give this as `after` in the next call. */
  next: number
  hasMore: boolean
}

export type NewDeposit = {
  /** Your order id, unique in your store. Repeating a call with the same one and the same values returns the same deposit. */
  externalId: string
  currency: 'USD' | 'EUR' | 'BRL'
  /** The language the page opens in: en or ru. Without one, or with one that it does not speak, it follows the shopper’s own preference, else English. */
  language?: string
  /** Where *Back to the store* leads after every end, and from every page. Its origin must be registered for the store. `{DEPOSIT_ID}` and `{EXTERNAL_ID}` in it become the ids. */
  backToStoreUrl: string
  /** Where the page goes automatically once the deposit has succeeded, and after no other end. The same rules apply. */
  redirectUrl?: string
  /** The page of yours that may hold the deposit in a frame, as `https://host[:port]`: one of the origins that are registered for the store. Without it no page may. */
  embedOrigin?: string
  /** The least that is accepted. */
  minAmount?: number
  /** The most that is accepted. */
  maxAmount?: number
  /** An exact price: the items must be worth at least this. Items have their own prices, so any excess is credited too. Not together with minAmount or maxAmount. */
  targetAmount?: number
  /** The games whose items are accepted; all by default. */
  games?: ('cs' | 'dota' | 'rust' | 'tf')[]
  /** `on_release` holds the whole credit until Steam’s protection ends, whatever your limit. */
  creditMode?: 'on_accept' | 'on_release'
  /** Your id of the customer: lists can be filtered by it. Never shown to the shopper. */
  customerReference?: string
  /** Up to 20 texts of your own, given back with every answer and event. */
  metadata?: { [key: string]: string | '' }
  /** The shopper’s Steam trade link, if you know it: then the page does not ask for it. */
  tradeUrl?: string
  /** Who should pay. */
  shopper?: {
    /** The 64-bit Steam id with which the shopper signed in to your store. */
    steamId: string
    /** True: trade links of other accounts are refused. */
    lock?: boolean
  }
  /** Whose balance is filled, such as the shopper’s name in your store: the page shows it beside your name. */
  customerLabel?: string
  /** How long the shopper may take until there is an offer; 60 by default. */
  expiresInMinutes?: number
}

export type Problem = {
  type: string
  title: string
  status: number
  /** Decide by this: it never changes. */
  code:
    | 'unauthorized'
    | 'scope_missing'
    | 'order_conflict'
    | 'idempotency_in_progress'
    | 'deposit_busy'
    | 'not_cancellable'
    | 'too_many_endpoints'
    | 'endpoint_disabled'
    | 'endpoint_unproved'
    | 'replay_in_progress'
    | 'cursor_ahead'
    | 'idempotency_key_reused'
    | 'store_disabled'
    | 'too_many_deposits'
    | 'replay_quota'
    | 'too_many_tests'
    | 'invalid_request'
    | 'invalid_trade_link'
    | 'https_required'
    | 'cross_site_token'
    | 'not_found'
    | 'deposit_not_found'
    | 'method_not_allowed'
    | 'game_not_accepted'
    | 'deposit_closed'
    | 'trade_in_progress'
    | 'other_shopper'
    | 'trade_link_missing'
    | 'too_many_open_offers'
    | 'offers_paused'
    | 'price_changed'
    | 'items_unavailable'
    | 'too_many_items'
    | 'below_minimum'
    | 'above_maximum'
    | 'unsupported_media_type'
    | 'payload_too_large'
    | 'trade_refused'
    | 'wrong_host'
    | 'trade_hold'
    | 'shopper_refused'
    | 'user_not_found'
    | 'too_many_requests'
    | 'too_many_looks'
    | 'internal'
    | 'overloaded'
    | 'database_unavailable'
    | 'steam_unavailable'
    | 'technical_works'
    | 'no_bot_available'
    | (string & {})
  /** For people, in English or Russian. */
  detail: string
  /** Field by field, of `invalid_request`. */
  errors?: { path: string; message: string }[]
}

export type WebhookTest = {
  id: string
  type: 'webhook.test'
  timestamp: string
  data: { endpointId: string; challenge: string }
}
