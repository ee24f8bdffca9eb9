/** The interface for features whose work must run in the process that holds a bot's lease. */
import type { SteamSession } from '../steam/steam.ts'

/** The bot, as every handler of its work receives it. It exists only in the process that holds the bot's lease. */
export type BotContext = {
  botId: bigint
  session: SteamSession
  /**
   * Number of the lease. The holder's writes to a trade match a row only under this number, so those of a former holder
   * have no effect.
   */
  leaseEpoch: bigint
  /** True while the bot's work runs and its lease lasts long enough for a write to Steam with this deadline. */
  mayWrite(deadlineMs: number): boolean
}

/** A wake-up in the queue of one bot. Ids are decimal digits. */
export type BotJob =
  /** Read an inventory. Store and deposit decide its turn; a job from an older version lacks them. */
  | { kind: 'inventory'; requestId: string; storeId?: string | undefined; depositId?: string | undefined }
  /** Read the trade's row and do the work that is due. */
  | { kind: 'trade'; tradeId: string }
  /** Read this trade's offer once, immediately, because the deposit's page was just opened or shown again. */
  | { kind: 'refresh'; tradeId: string }
  /** Read the bot's trade history: items may have been taken back or stolen. */
  | { kind: 'history' }
  /** Compare the bot's inventory on Steam with custody. */
  | { kind: 'drift' }

/**
 * The lane of a trade, chosen by the work that is due. Lanes never wait for each other. `settling`: checks of
 * delivered trades. `reviews`: checks of trades that ended without items.
 */
export type TradeLane = 'sends' | 'cancels' | 'reads' | 'settling' | 'reviews'

export type BotHandlers = {
  /** Calls `spend` before it asks Steam for the items. Without that call, the read uses no budget. */
  inventory(bot: BotContext, requestId: bigint, spend: () => void): Promise<void>
  /** The lane in which the trade must wait; undefined if this bot has no due work for it. Does not call Steam. */
  laneOf(bot: BotContext, tradeId: bigint): Promise<TradeLane | undefined>
  trade(bot: BotContext, tradeId: bigint): Promise<void>
  refresh(bot: BotContext, tradeId: bigint): Promise<void>
  history(bot: BotContext): Promise<void>
  drift(bot: BotContext): Promise<void>
  /**
   * Called when the bot's work starts and 5 s after any work on a trade, then every 5 s until it resolves to 0.
   * Resolves to the number of open trades, plus one while the search for orphans is not complete.
   */
  watch(bot: BotContext): Promise<number>
}

export function botQueue(botId: bigint): string {
  return `bot.${botId}`
}
