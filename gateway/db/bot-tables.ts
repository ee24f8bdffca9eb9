import type { Generated, JSONColumnType } from 'kysely'
import type { BarReason, BarScope } from '../bots/bar.ts'

/**
 * `paused`: the operator stopped new trades. `dead`: Steam refuses its token. `retired`: its account is lost, so the
 * till ended its open trades. `removed`: the operator took it out for good; its trades stay.
 */
export type BotState = 'active' | 'paused' | 'dead' | 'retired' | 'removed'

/** A bar of the bot, for one game or for all. */
export type BotBarTable = {
  bot_id: bigint
  scope: BarScope
  reason: BarReason
  barred_at: Date
  until: Date
  /** How many bars came one after another, without an offer that Steam took in between. */
  times: number
}

/** Progress of the pass through a bot's trade history. */
export type BotHistoryTable = {
  bot_id: bigint
  /** When a process last took up the history, to read its next pages. */
  turned_at: Date
  /** When the current pass began; null between two passes. */
  begun_at: Date | null
  /** The oldest Steam trade that the current pass has read; null before its first page. */
  after_trade_id: string | null
  after_begun_at: Date | null
  /** When the last complete pass began. */
  complete_at: Date | null
}

/** Steam refused this bot's offer to the partner, but took the same offer from another bot. */
export type BotDoubtTable = { bot_id: bigint; partner_steam_id: string; doubted_at: Date }

/** The number of items that a bot has of each game. */
export type BotGamesTable = {
  bot_id: bigint
  /** By Steam's app id, without the custody entries after `counted_to`. */
  items: JSONColumnType<Record<string, number>, string | undefined, string>
  counted_to: Generated<bigint>
}

/** An item that a bot has, according to the custody entries up to the mark in `held_items_mark`. */
export type HeldItemTable = {
  custody_entry_id: bigint
  bot_id: bigint
  trade_id: bigint
  asset_id: string
}

/** One row at most. `held_item` lists the items as of the custody entry `counted_to`. */
export type HeldItemsMarkTable = {
  one: Generated<boolean>
  counted_to: Generated<bigint>
}

/** A running process of the till. `max_bots`: the most bots that it may hold. */
export type GatewayProcessTable = {
  owner: string
  max_bots: number
  beat_at: Date
  key_fingerprint: string | null
}

export type BotTable = {
  id: Generated<bigint>
  steam_id: string
  name: string
  avatar_url: string
  profile_url: string
  level: number
  /** YYYY-MM-DD; null if the account's profile hides it, or was read by an earlier version. */
  member_since: Generated<string | null>
  refresh_token: Buffer
  state: Generated<BotState>
  state_reason: string | null
  /** When Steam first refused its token; null once a session has opened. */
  token_refused_at: Date | null
  /** The bot is not logged in before this time. */
  login_after: Date | null
  lease_owner: string | null
  lease_epoch: Generated<bigint>
  lease_until: Date | null
  /** True while the holder of the lease has a session. */
  online: Generated<boolean>
  /** Since when every call about offers, or about inventories, has failed; null while such calls succeed. */
  offers_failing_since: Generated<Date | null>
  inventories_failing_since: Generated<Date | null>
  token_expires_at: Generated<Date | null>
  /** When the account accepted Steam's notice about trade protection. */
  protection_acknowledged_at: Generated<Date | null>
  /** How many items the bot has, without the custody entries after `items_counted_to`. */
  items_held: Generated<number>
  items_counted_to: Generated<bigint>
  created_at: Generated<Date>
  /** The till looks for no departures before this time. */
  watched_from: Generated<Date>
}
