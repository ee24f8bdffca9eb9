import type { BotHandlers } from './bot.ts'

/** `isIdle` is true while none of the wrapped handlers is running. */
export function countWork(handlers: BotHandlers): { handlers: BotHandlers; isIdle(): boolean } {
  let running = 0
  const count =
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
      inventory: count(handlers.inventory),
      laneOf: count(handlers.laneOf),
      trade: count(handlers.trade),
      refresh: count(handlers.refresh),
      history: count(handlers.history),
      drift: count(handlers.drift),
      watch: count(handlers.watch),
    },
    isIdle: () => running === 0,
  }
}
