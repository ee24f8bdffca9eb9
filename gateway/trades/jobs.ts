import { botQueue } from '../bots/bot.ts'
import type { SettleDeps } from './settle.ts'

const MOST_DUE = 500

/** Wakes the bot of every trade that is due: what a lost job would have woken. */
export async function sweepTrades({ db, queue, clock, log }: SettleDeps): Promise<void> {
  const due = await db
    .selectFrom('trade')
    .select(['id', 'bot_id', 'state'])
    .where('due_at', '<=', clock.now())
    .orderBy('due_at')
    .limit(MOST_DUE)
    .execute()
  for (const { id, bot_id: botId } of due) {
    const name = botQueue(botId)
    await queue.ensure(name)
    const job = { kind: 'trade', tradeId: String(id) } as const
    await db.transaction().execute((tx) => queue.send(tx, name, job, { singletonKey: `trade ${id}` }))
  }
  if (due.length === MOST_DUE) log.warn({ due: due.length }, 'more trades are due than one sweep wakes')
}
