import { botQueue } from '../bots/bot.ts'
import type { Tx } from '../db/client.ts'
import type { DepositDeps } from '../deposits/service.ts'
import type { TradeRow } from './store.ts'

export type TradeDeps = DepositDeps & {
  /** Days in which Steam lets the sender take a trade of the game back. */
  protectionDays(game: TradeRow['game']): number
  /** How often a bot's history is gone through while anything can be taken back. */
  historyEveryMs: number
}

/** Wakes the bot at that time; the sweep does it if the job is lost. */
export async function wakeAt(deps: TradeDeps, tx: Tx, row: TradeRow, when: Date): Promise<void> {
  const job = { kind: 'trade', tradeId: String(row.id) } as const
  await deps.queue.send(tx, botQueue(row.bot_id), job, { startAfter: when, singletonKey: `trade ${row.id}` })
}
