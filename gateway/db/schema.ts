/**
 * Types of the tables in migrations/, for Kysely; schema.test.ts compares them with the database. A bigint is a
 * bigint here, and a timestamptz is a Date.
 */
import type { ColumnType, Generated, GeneratedAlways, JSONColumnType } from 'kysely'
import type { EventType } from '../../contract/event-types.ts'
import type { Game, Phase } from '../../contract/games.ts'
import type { Language } from '../../contract/languages.ts'
import type { Currency } from '../../contract/money.ts'
import type { Scope } from '../../contract/scopes.ts'
import type { DepositStatus } from '../../contract/statuses.ts'
import type * as bots from './bot-tables.ts'
import type * as calls from './call-tables.ts'
import type * as custody from './custody-tables.ts'
import type { EpochTable, HaltTable } from './epoch-tables.ts'
import type {
  AdjustmentTable,
  CreditAtRiskTable,
  LedgerCheckTable,
  LostCreditTable,
  PayoutTable,
  PayoutVoidTable,
  VerifiedBalanceTable,
} from './ledger-tables.ts'
import type { OperatorTables } from './operator-tables.ts'
import type { PriceFeedTable, PriceHoldTable, PriceTable } from './price-tables.ts'
import type * as sales from './sale-tables.ts'
import type * as time from './time-tables.ts'
import type { CreditMode, Liability, TradeItemTable, TradeTable } from './trade-tables.ts'
import type * as vault from './vault-tables.ts'
import type * as webhook from './webhook-tables.ts'

/** Which till owns the database. One row at most. */
export type TillIdentityTable = {
  is_only: Generated<boolean>
  mode: 'sandbox' | 'live'
  key_fingerprint: string
  old_fingerprints: Generated<string[]>
}

export type StoreTable = {
  id: Generated<bigint>
  name: string
  origins: string[]
  credit_mode: Generated<CreditMode>
  risk_limit_usd_cents: Generated<bigint>
  liability: Generated<Liability>
  /** `#rrggbb` */
  accent: ColumnType<string | null, string | null | undefined>
  /** The largest sequence of the store's events. */
  last_sequence: Generated<bigint>
  created_at: Generated<Date>
  /** In hundredths of a percent. Null: the setting of the till. */
  commission_bps: Generated<number | null>
  /** Null: all. */
  games: Generated<Game[] | null>
  disabled_at: Generated<Date | null>
}

export type ApiKeyTable = {
  id: string
  store_id: bigint
  secret_sha256: Buffer
  name: Generated<string>
  scopes: Generated<Scope[]>
  last_used_at: Generated<Date | null>
  /** The key works until then: the end of its lifetime, or of the overlap after a rotation. */
  expires_at: Generated<Date | null>
  created_at: Generated<Date>
  revoked_at: Date | null
  /** The lifetime of the key, and of a key that replaces it. Null: no end. */
  lifetime_s: Generated<number | null>
}

/** How many pages had a measurement in this bucket on this day. */
export type PageVitalTable = {
  day: Date
  screen: string
  device: 'phone' | 'computer'
  metric: string
  bucket: number
  pages: number
}

export type ExchangeRateTable = {
  id: Generated<bigint>
  currency: Currency
  /** A decimal as text: never a float. */
  per_usd: string
  source: string
  as_of: Date
}

export type DepositTable = {
  id: Generated<bigint>
  hash: string
  store_id: bigint
  external_id: string
  /** Identifies the values of the call that created it, so a repeated call is not taken for a conflict. */
  request_sha256: Buffer
  status: Generated<DepositStatus>
  currency: Currency
  language: Language | null
  back_to_store_url: string
  redirect_url: string | null
  min_amount: bigint | null
  max_amount: bigint | null
  target_amount: Generated<bigint | null>
  games: Generated<Game[] | null>
  credit_mode: Generated<CreditMode | null>
  customer_reference: Generated<string | null>
  metadata: ColumnType<Record<string, string>, string | undefined, string>
  /** When its store cancelled it, before there was an offer. */
  cancelled_at: Generated<Date | null>
  credited_amount: bigint | null
  held_amount: Generated<bigint>
  held_until: Date | null
  reversed_amount: Generated<bigint>
  /** The part of `reversed_amount` that the store bears: held credit always, other credit if it is liable. */
  charged_amount: Generated<bigint>
  user_steam_id: string | null
  /** The token in clear text, written by an earlier version and not encrypted yet. */
  user_token: string | null
  user_token_sealed: Generated<Buffer | null>
  user_name: string | null
  user_avatar_url: string | null
  user_profile_url: string | null
  created_at: Generated<Date>
  expires_at: Date
  embed_origin: Generated<string | null>
  /** The account that the store expects to pay. If the deposit is locked, no other account may. */
  shopper_steam_id: Generated<string | null>
  shopper_locked: Generated<boolean>
  customer_label: Generated<string | null>
}

/** A read of an inventory, for the process that holds the bot's lease. Its answer is written into the row. */
export type InventoryRequestTable = {
  id: Generated<bigint>
  bot_id: bigint
  steam_id: string
  token_sealed: Buffer
  token_hmac: Buffer
  game: Game
  language: Language
  /** `taken`: the process with the lease is reading it. */
  state: Generated<'open' | 'taken' | 'done'>
  answer: JSONColumnType<object> | null
  created_at: Generated<Date>
  done_at: Date | null
  deposit_id: bigint | null
  /** True if the shopper asked to reload, so only a very recent answer will do. */
  is_reload: Generated<boolean>
}

/** A trade link that was recently given to a deposit. */
export type DepositLinkTable = {
  deposit_id: bigint
  link_hmac: Buffer
  given_at: Date
}

/** The prices of a game's items that a shopper saw. */
export type QuoteTable = {
  id: string
  deposit_id: bigint
  game: Game
  currency: Currency
  rate_id: bigint
  commission_bps: number | null
  created_at: Date
  expires_at: Date
  /** The account whose items were priced. */
  steam_id: string | null
}

/** The basis of an item's price in a quote. */
export type QuotePriceTable = {
  quote_id: string
  market_hash_name: string
  usd_micros: bigint
  /** The item's weekly level: its typical price over 7 days. */
  level_micros: bigint | null
  /** The data of each source, with its time. */
  said: JSONColumnType<object>
}

export type QuoteItemTable = {
  quote_id: string
  asset_id: string
  app_id: number
  context_id: string
  name: string
  market_hash_name: string
  /** The name with the phase, if the item was priced by it; null if it was priced by its market name. */
  priced_as: Generated<string | null>
  /** The phase of a Doppler. */
  phase: Generated<Phase | null>
  price: bigint
  gross: bigint
}

export type AccountKind =
  /** A store's credit: what it cannot spend yet, and what it can. */
  | 'held'
  | 'available'
  /** The items that were collected: every delivery is paid from here. */
  | 'items'
  /** The operator's share of deliveries, and the reversals and debts that the operator bears. */
  | 'commission'
  | 'loss'
  /** Where money of stores went, and where an operator's corrections came from. */
  | 'paid_out'
  | 'adjustments'

export type AccountTable = {
  id: Generated<bigint>
  store_id: bigint | null
  kind: AccountKind
  currency: Currency
  /** The sum of its credits minus its debits. */
  balance: Generated<bigint>
  /** The lower limit of the balance; null if it has no limit. */
  floor: bigint | null
}

/** The total of reversals of a store's deposits. */
export type ReversedTotalTable = { store_id: bigint; currency: Currency; amount: bigint }

export type EntryCause =
  | 'delivered'
  | 'commission'
  | 'released'
  | 'reversed'
  | 'commission_reversed'
  | 'paid_out'
  | 'payout_voided'
  | 'adjusted'
  | 'written_off'

export type LedgerEntryTable = {
  id: Generated<bigint>
  debit_account: bigint
  credit_account: bigint
  amount: bigint
  currency: Currency
  cause: EntryCause
  /** The number of a reversal among several of one trade, from 0; 0 for every other cause. */
  part: Generated<number>
  /** Null for payouts and adjustments, as are the quote and the rate. */
  trade_id: bigint | null
  quote_id: string | null
  rate_id: bigint | null
  payout_id: Generated<bigint | null>
  adjustment_id: Generated<bigint | null>
  created_at: Generated<Date>
}

export type EventTable = {
  id: string
  store_id: bigint
  /** Null for the event of an epoch. */
  deposit_id: bigint | null
  /** Null for a change of the deposit's status, and for the event of an epoch. */
  trade_id: bigint | null
  /**
   * The number of a reversal among several of one trade, from 0; 0 for every other event of a deposit. For the event of
   * an epoch: its number among all such events of all stores, from 1.
   */
  part: Generated<number>
  type: EventType
  payload: JSONColumnType<object>
  created_at: Generated<Date>
  /** Orders the events of a deposit. */
  inserted: GeneratedAlways<bigint>
  /** Null until the event is published. */
  sequence: bigint | null
}

/**
 * A call with an Idempotency-Key. `locked_until`: no second call with the key runs before then; null once the
 * call is answered. `answer`: encrypted.
 */
export type IdempotencyKeyTable = {
  store_id: bigint
  key: string
  request_sha256: Buffer
  created_at: Date
  locked_until: Date | null
  status: number | null
  answer: Buffer | null
  /** The deposit in the answer; null if there is none, or if an earlier version stored the answer. */
  deposit_id: Generated<bigint | null>
}

export type Tables = OperatorTables & {
  till_identity: TillIdentityTable
  store: StoreTable
  api_key: ApiKeyTable
  bot: bots.BotTable
  bot_bar: bots.BotBarTable
  bot_doubt: bots.BotDoubtTable
  bot_calls: calls.BotCallsTable
  steam_calls: calls.SteamCallsTable
  bot_games: bots.BotGamesTable
  held_item: bots.HeldItemTable
  held_items_mark: bots.HeldItemsMarkTable
  page_vital: PageVitalTable
  bot_history: bots.BotHistoryTable
  gateway_process: bots.GatewayProcessTable
  price: PriceTable
  price_hold: PriceHoldTable
  price_feed: PriceFeedTable
  exchange_rate: ExchangeRateTable
  deposit: DepositTable
  inventory_request: InventoryRequestTable
  deposit_link: DepositLinkTable
  quote: QuoteTable
  quote_item: QuoteItemTable
  quote_price: QuotePriceTable
  trade: TradeTable
  trade_item: TradeItemTable
  account: AccountTable
  reversed_total: ReversedTotalTable
  ledger_check: LedgerCheckTable
  verified_balance: VerifiedBalanceTable
  credit_at_risk: CreditAtRiskTable
  lost_credit: LostCreditTable
  ledger_entry: LedgerEntryTable
  event: EventTable
  epoch: EpochTable
  halt: HaltTable
  webhook_address: webhook.WebhookAddressTable
  webhook_endpoint: webhook.WebhookEndpointTable
  webhook_delivery: webhook.WebhookDeliveryTable
  webhook_replay: webhook.WebhookReplayTable
  webhook_attempt: webhook.WebhookAttemptTable
  idempotency_key: IdempotencyKeyTable
  payout: PayoutTable
  payout_void: PayoutVoidTable
  adjustment: AdjustmentTable
  custody_entry: custody.CustodyEntryTable
  departure: custody.DepartureTable
  custody_look: custody.CustodyLookTable
  custody_drift: custody.CustodyDriftTable
  learnt_asset: custody.LearntAssetTable
  sent_back_item: custody.SentBackItemTable
  careful_shopper: custody.CarefulShopperTable
  departed_item: custody.DepartedItemTable
  wish: vault.WishTable
  wish_item: vault.WishItemTable
  vault_deed: vault.VaultDeedTable
  vault_need: vault.VaultNeedTable
  vault_unlisted: vault.VaultUnlistedTable
  send_rule: vault.SendRuleTable
  sale: sales.SaleTable
  market_account: sales.MarketAccountTable
  market_entry: sales.MarketEntryTable
  market_balance: sales.MarketBalanceTable
  vault_told: sales.VaultToldTable
  market_off: sales.MarketOffTable
  outage: time.OutageTable
  sweep_place: time.SweepPlaceTable
  till_clock: time.TillClockTable
}
