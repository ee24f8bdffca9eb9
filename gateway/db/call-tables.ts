import type { Generated } from 'kysely'

/**
 * Counts of the calls to Steam for a bot, in the five minutes from `since`. `asked`: calls that were sent. `limited`:
 * Steam refused the call because of too many calls. `failed`: no answer, or an answer that shows trouble at Steam.
 * `held_back`: the till's own limits kept the call from Steam, so it is not among `asked`.
 */
export type BotCallsTable = {
  bot_id: bigint
  since: Date
  asked: Generated<number>
  limited: Generated<number>
  failed: Generated<number>
  held_back: Generated<number>
}

/** Counts of the calls to Steam by method and bot, in the hour from `hour`, with how long the calls took. */
export type SteamCallsTable = {
  hour: Date
  method: string
  /** Null for public pages, which need no bot. */
  bot_id: bigint | null
  asked: Generated<number>
  limited: Generated<number>
  failed: Generated<number>
  held_back: Generated<number>
  total_ms: Generated<bigint>
  longest_ms: Generated<number>
}
