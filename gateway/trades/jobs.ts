import { botQueue } from '../bots/bot.ts'
import { INTENT_LIFE_MS } from './alarm.ts'
import type { TradeDeps } from './deps.ts'
import { record } from './record.ts'
import { aboutTrade } from './trade-store.ts'

const MOST_DUE = 500

/** A trade that was woken is not woken again before this: others that are due get their turn. */
const WAKE_AGAIN_MS = 30_000

/** Wakes the bot of every trade that is due: what a lost job would have woken. */
export async function sweepTrades(deps: TradeDeps): Promise<void> {
  await refuseStaleIntents(deps)
  const { db, queue, clock, log } = deps
  const now = clock.now()
  const due = await db
    .updateTable('trade')
    .set({ due_at: new Date(now.getTime() + WAKE_AGAIN_MS) })
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('trade')
        .select('id')
        .where('due_at', '<=', now)
        .orderBy('due_at')
        .limit(MOST_DUE)
        .forUpdate()
        .skipLocked(),
    )
    .returning(['id', 'deposit_id', 'bot_id'])
    .execute()
  for (const row of due) {
    const { id, bot_id: botId } = row
    try {
      const name = botQueue(botId)
      await queue.ensure(name)
      const job = { kind: 'trade', tradeId: String(id) } as const
      await db.transaction().execute((tx) => queue.send(tx, name, job, { singletonKey: `trade ${id}` }))
    } catch (error) {
      log.error(
        { err: error, ...aboutTrade({ id: row.id, depositId: row.deposit_id }) },
        'a trade that is due could not be woken',
      )
    }
  }
  if (due.length === MOST_DUE) log.warn({ due: due.length }, 'more trades are due than one sweep wakes')
}

/** The bot of these is gone: nothing was said to Steam, so anybody may tell the shopper. */
async function refuseStaleIntents(deps: TradeDeps): Promise<void> {
  const rows = await deps.db
    .selectFrom('trade')
    .select(['id', 'deposit_id', 'bot_id'])
    .where('state', '=', 'intended')
    .where('created_at', '<=', new Date(deps.clock.now().getTime() - INTENT_LIFE_MS))
    .orderBy('id')
    .limit(MOST_DUE)
    .execute()
  for (const row of rows) {
    const about = aboutTrade({ id: row.id, depositId: row.deposit_id })
    try {
      await record(deps, { tradeId: row.id }, { kind: 'nobody_came' })
      deps.log.error({ ...about, bot: String(row.bot_id) }, 'no bot took up a trade in time')
    } catch (error) {
      deps.log.error({ err: error, ...about }, 'a trade that no bot took up could not be ended')
    }
  }
}

/** How long the trades of a bot may be overdue before the operator is called. */
const OVERDUE_MS = 120_000

/** Calls the operator where trades wait for a bot that nobody speaks for. To be run once a minute. */
export async function reportOverdue({ db, clock, log }: TradeDeps): Promise<void> {
  const rows = await db
    .selectFrom('trade')
    .innerJoin('bot', 'bot.id', 'trade.bot_id')
    .select((eb) => ['bot.id', 'bot.name', 'bot.state', 'bot.state_reason', eb.fn.countAll().as('trades')])
    .where('trade.due_at', 'is not', null)
    .where('trade.state', 'in', ['sending', 'unknown', 'active', 'held'])
    .where('bot.online', '=', false)
    .where('trade.created_at', '<=', new Date(clock.now().getTime() - OVERDUE_MS))
    .where('trade.due_at', '<=', new Date(clock.now().getTime() + WAKE_AGAIN_MS))
    .groupBy(['bot.id', 'bot.name', 'bot.state', 'bot.state_reason'])
    .execute()
  for (const { id, name, state, state_reason: reason, trades } of rows) {
    const about = { botId: String(id), bot: name, state, reason, trades: Number(trades) }
    log.error(about, 'trades wait for a bot that is out of service: enrol it again, or look at its account')
  }
}
