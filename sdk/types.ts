/** Written by scripts/openapi.ts. */
export type Deposit = {
  id: string
  externalId: string
  /** Number of this deposit’s last event; 0 before the first. Of two versions of a deposit, keep the one with the larger sequence. */
  sequence: number
  /** Send the shopper here. */
  url: string
  /** A page about the ended deposit that a shopper can show to support; null while it is open. It can be read as long as the deposit’s own page. */
  receiptUrl: string | null
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
  /** Why the deposit ended without items: `expired`, `cancelled_by_store`, or the reason of its trade. Null while it is open, and if it succeeded. */
  endReason: string | null
  currency: 'USD' | 'EUR' | 'BRL' | (string & {})
  /** Your credit, after the operator’s commission. Null until the deposit has succeeded. */
  amount: number | null
  /** The part of `amount` that cannot be paid out yet. It falls when held credit is released, and when items are taken back. */
  heldAmount: number
  /** When the last held credit should be released, unless Steam delays it. Null: none is held. */
  heldUntil: string | null
  /** The value of the items that the sender took back. Deduct it from your shopper’s balance. */
  reversedAmount: number
  /** The part of `reversedAmount` that the till has charged to your balance. Null only in events of version 0.2.0 and earlier. */
  chargedAmount: number | null
  /** `amount` minus `heldAmount` and `chargedAmount`. */
  availableAmount: number
  /** Equals `targetAmount` if you gave one. Null: no limit. */
  minAmount: number | null
  /** Null: no limit. */
  maxAmount: number | null
  targetAmount: number | null
  games: ('cs' | 'dota' | 'rust' | 'tf' | (string & {}))[]
  /** Null: the page follows the shopper’s preference. */
  language: 'en' | 'ru' | (string & {}) | null
  /** The origin that may show the deposit in a frame; null if none may. */
  embedOrigin: string | null
  customerReference: string | null
  customerLabel: string | null
  /** The account that should pay, from your call. `trade.partnerSteamId` is the account that pays. */
  shopper: { steamId: string; lock: boolean } | null
  metadata: { [key: string]: string }
  createdAt: string
  expiresAt: string
  /** The open trade, or the one that ended the deposit. */
  trade: {
    game: 'cs' | 'dota' | 'rust' | 'tf' | (string & {})
    /** The 64-bit Steam id of the account that gives the items. Null only in events of version 0.2.0 and earlier. */
    partnerSteamId: string | null
    steamOfferId: string | null
    /** Steam’s id of the trade, once the offer is accepted. */
    steamTradeId: string | null
    /** Why the trade ended, such as `deadline` or `declined`. */
    reason: string | null
    items: {
      assetId: string
      /** In the shopper’s language. Owners can rename items, so this may be any text. */
      name: string
      /** The item’s name on Steam’s market. Null only in events of version 0.2.0 and earlier. */
      marketHashName: string | null
      /** The phase of a Doppler, which `name` and `marketHashName` do not say. Null for every other item, and in events of version 0.2.0 and earlier. */
      phase:
        | 'phase1'
        | 'phase2'
        | 'phase3'
        | 'phase4'
        | 'ruby'
        | 'sapphire'
        | 'blackPearl'
        | 'emerald'
        | (string & {})
        | null
      /** Your credit for the item, after the operator’s commission. */
      price: number
      /** True once the sender has taken the item back under Steam’s trade protection. */
      reversed: boolean
    }[]
  } | null
}

export type DepositEvent = {
  /** The same in every attempt. Equals the header `webhook-id`. */
  id: string
  /** When the reported change happened. */
  timestamp: string
  /** The event’s number in your log: 1, 2, 3 … Numbers are skipped only before an `epoch.started`. */
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
  /** The deposit at that time. */
  data: Deposit
}

export type DepositList = {
  /** Newest first. */
  deposits: Deposit[]
  /** Pass this as `after` to get the next page; null on the last page. */
  next: string | null
}

export type EpochEvent = {
  /** The same in every attempt. Equals the header `webhook-id`. */
  id: string
  /** When the reported change happened. */
  timestamp: string
  /** The event’s number in your log: 1, 2, 3 … Numbers are skipped only before an `epoch.started`. */
  sequence: number
  type: 'epoch.started'
  data: {
    /** The number of the new epoch. A till begins with epoch 1, so its first event of this type has 2. */
    epoch: number
    /** Sequence of the last earlier event that the till still has. You may have read later ones, which the till has lost. No event will get a number between `previousSequence` and the `sequence` of this event. */
    previousSequence: number
  }
}

export type Event = DepositEvent | EpochEvent

export type EventList = {
  /** In order; none is left out. */
  events: Event[]
  /** Pass this as `after` in the next call. */
  next: number
  /** Whether later events can be read now. */
  hasMore: boolean
}

export type NewDeposit = {
  /** Your order id, unique in your store. A repeated call with the same id and values returns the same deposit. */
  externalId: string
  currency: 'USD' | 'EUR' | 'BRL'
  /** The language in which the page opens: en or ru. Without it, or with any other language, the page follows the shopper’s preference, else English. */
  language?: string
  /** The target of *Back to the store*, which the page shows after every outcome and with most messages. Its origin must be registered for the store. `{DEPOSIT_ID}` and `{EXTERNAL_ID}` in it are replaced by the ids, and `{LANGUAGE}` by the language of the shopper’s page: en or ru. */
  backToStoreUrl: string
  /** The address that the page opens automatically once the deposit has succeeded, but after no other outcome. The rules of `backToStoreUrl` apply. */
  redirectUrl?: string
  /** The origin that may show the deposit in a frame, as `https://host[:port]`. It must be registered for the store. By default, no origin may. */
  embedOrigin?: string
  /** The smallest accepted amount. */
  minAmount?: number
  /** The largest accepted amount. */
  maxAmount?: number
  /** A fixed price: the items must be worth at least this. Any excess is credited too. Cannot be combined with minAmount or maxAmount. */
  targetAmount?: number
  /** The games whose items are accepted. Default: all that your store takes. */
  games?: ('cs' | 'dota' | 'rust' | 'tf')[]
  /** `on_accept` credits you as soon as the items are delivered, as far as your limit of credit at risk allows. `on_release` holds the entire credit until Steam’s trade protection ends. Default: the setting of your store. A deposit cannot loosen that setting: if the setting is `on_release`, `on_accept` has no effect. */
  creditMode?: 'on_accept' | 'on_release'
  /** Your id for the customer, for filtering lists. Never shown to the shopper. */
  customerReference?: string
  /** Up to 20 texts of your own, returned in every answer and event of the deposit. */
  metadata?: { [key: string]: string | '' }
  /** The shopper’s Steam trade link, if you know it. The page then does not ask for it. */
  tradeUrl?: string
  /** The account that should pay. */
  shopper?: {
    /** The 64-bit Steam id with which the shopper signed in to your store. */
    steamId: string
    /** Whether only this account may pay. Default: false. */
    lock?: boolean
  }
  /** The account that is credited, such as the shopper’s name in your store. The page shows it next to your name. */
  customerLabel?: string
  /** Minutes until the deposit expires if no offer is made. Default: 60. */
  expiresInMinutes?: number
}

export type Problem = {
  type: string
  title: string
  status: number
  /** For programs. A code never changes. */
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
    | 'headers_too_large'
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
  /** For people, in the language of the call. */
  detail: string
  /** The invalid fields, for `invalid_request`. */
  errors?: { path: string; message: string }[]
}

export type WebhookTest = {
  id: string
  type: 'webhook.test'
  timestamp: string
  data: { endpointId: string; challenge: string }
}
