/** The interface for features whose work must run in the process that holds a bot's lease. */
import type { SteamSession } from '../steam/steam.ts'

/** Given to every handler of a bot's work. Only the process that holds the bot's lease ever has one. */
export type BotContext = {
  botId: bigint
  session: SteamSession
  /** Every change of a trade carries it, so the write of a stale holder matches no row. */
  epoch: bigint
  /** True while what is left of the lease is longer than a write to Steam with this deadline may take. */
  mayWrite(deadlineMs: number): boolean
}

/** A wake-up in the queue of one bot; ids are decimal digits. */
export type BotJob =
  /** Its turn goes by the store and the deposit, which a job of an older version does not name. */
  | { kind: 'inventory'; requestId: string; storeId?: string | undefined; depositId?: string | undefined }
  /** Read the trade's row and do what is due. */
  | { kind: 'trade'; tradeId: string }
  /** Read this trade's offer once, now, because its shopper is back at the page. */
  | { kind: 'refresh'; tradeId: string }
  /** Go through the bot's trade history: something may have been taken back, or stolen. */
  | { kind: 'history' }
  /** Hold what the bot has on Steam against the books. */
  | { kind: 'drift' }

/** By what is due for a trade: what one lane does never waits for another. */
export type TradeLane = 'sends' | 'cancels' | 'reads' | 'settling' | 'reviews'

export type BotHandlers = {
  /** Calls `spend` before Steam is asked for the items. */
  inventory(bot: BotContext, requestId: bigint, spend: () => void): Promise<void>
  /** Where the trade waits for its turn; undefined while nothing is due for it. Asks Steam nothing. */
  laneOf(bot: BotContext, tradeId: bigint): Promise<TradeLane | undefined>
  trade(bot: BotContext, tradeId: bigint): Promise<void>
  refresh(bot: BotContext, tradeId: bigint): Promise<void>
  history(bot: BotContext): Promise<void>
  drift(bot: BotContext): Promise<void>
  /**
   * Called once when the work begins, then every 5 s while the bot has live offers or must still be searched for lost
   * ones. Reads one list for all of them. Resolves to how many are left.
   */
  watch(bot: BotContext): Promise<number>
}

/** Name of the queue that the holder of the bot's lease works on. */
export function botQueue(botId: bigint): string {
  return `bot.${botId}`
}
