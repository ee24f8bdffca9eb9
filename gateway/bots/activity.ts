/** Tracks whether any of a bot's handlers is running. */
import type { BotHandlers } from './bot.ts'

/** Wraps the handlers to count those that are running. */
export function countWork(handlers: BotHandlers): { handlers: BotHandlers; isIdle(): boolean } {
  let running = 0
  const counted =
    <ARGS extends unknown[], RESULT>(work: (...args: ARGS) => Promise<RESULT>) =>
    async (...args: ARGS): Promise<RESULT> => {
      running += 1
      try {
        return await work(...args)
      } finally {
        running -= 1
      }
    }
  return {
    handlers: {
      inventory: counted(handlers.inventory),
      laneOf: counted(handlers.laneOf),
      trade: counted(handlers.trade),
      refresh: counted(handlers.refresh),
      history: counted(handlers.history),
      drift: counted(handlers.drift),
      watch: counted(handlers.watch),
    },
    isIdle: () => running === 0,
  }
}
