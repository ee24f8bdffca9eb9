/** Types of the tables that count calls to Steam, for Kysely. */
import type { Generated } from 'kysely'

/** Calls to Steam for a bot, five minutes at a time. */
export type BotCallsTable = {
  bot_id: bigint
  since: Date
  asked: Generated<number>
  limited: Generated<number>
  failed: Generated<number>
  held_back: Generated<number>
}

/** Calls to Steam by method and bot, an hour at a time. */
export type SteamCallsTable = {
  hour: Date
  method: string
  /** Null: public pages. */
  bot_id: bigint | null
  asked: Generated<number>
  limited: Generated<number>
  failed: Generated<number>
  held_back: Generated<number>
  total_ms: Generated<bigint>
  longest_ms: Generated<number>
}
