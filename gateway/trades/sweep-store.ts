/** Finds what is due, and wakes the bots for it. */
import { botQueue } from '../bots/bot.ts'
import { takeDueHistories } from '../bots/history-store.ts'
import type { Db } from '../db/client.ts'
import type { DepositDeps } from '../deposits/service.ts'
import type { TradeStore } from './trade-store.ts'

type Sweeps = Pick<
  TradeStore,
  'takeDueTrades' | 'staleIntents' | 'takeDueHistories' | 'expiredDeposits' | 'wakeBot'
>

export function sweepsOf({ db, queue }: Pick<DepositDeps, 'db' | 'queue'>): Sweeps {
  return {
    takeDueTrades: ({ now, nextAt, limit }) =>
      db
        .updateTable('trade')
        .set({ due_at: nextAt })
        .where('id', 'in', (eb) =>
          eb
            .selectFrom('trade')
            .select('id')
            .where('due_at', '<=', now)
            .orderBy('due_at')
            .limit(limit)
            .forUpdate()
            .skipLocked(),
        )
        .returning(['id', 'deposit_id as depositId', 'bot_id as botId'])
        .execute(),
    staleIntents: (before, limit) =>
      db
        .selectFrom('trade')
        .select(['id', 'deposit_id as depositId', 'bot_id as botId'])
        .where('state', '=', 'intended')
        .where('created_at', '<=', before)
        .orderBy('id')
        .limit(limit)
        .execute(),
    takeDueHistories: (how) => takeDueHistories(db, how),
    async expiredDeposits(now, limit) {
      const rows = await db
        .selectFrom('deposit')
        .select('id')
        .where('status', '=', 'created')
        .where('expires_at', '<=', now)
        .orderBy('expires_at')
        .limit(limit)
        .execute()
      return rows.map(({ id }) => id)
    },
    async wakeBot(botId, job) {
      const name = botQueue(botId)
      await queue.ensure(name)
      const [data, singletonKey] =
        job.kind === 'trade'
          ? [{ kind: job.kind, tradeId: String(job.tradeId) }, `trade ${job.tradeId}`]
          : [job, 'history']
      await db.transaction().execute((tx) => queue.send(tx, name, data, { singletonKey }))
    },
  }
}

/** Bots out of service whose trades from before `madeBefore` are due until `dueBefore`, with their number. */
export function botsOfOverdueTrades(
  db: Db,
  { madeBefore, dueBefore }: { madeBefore: Date; dueBefore: Date },
) {
  return db
    .selectFrom('trade')
    .innerJoin('bot', 'bot.id', 'trade.bot_id')
    .select((eb) => ['bot.id', 'bot.name', 'bot.state', 'bot.state_reason', eb.fn.countAll().as('trades')])
    .where('trade.due_at', 'is not', null)
    .where('trade.state', 'in', ['sending', 'unknown', 'active', 'held'])
    .where('bot.online', '=', false)
    .where('trade.created_at', '<=', madeBefore)
    .where('trade.due_at', '<=', dueBefore)
    .groupBy(['bot.id', 'bot.name', 'bot.state', 'bot.state_reason'])
    .execute()
}
