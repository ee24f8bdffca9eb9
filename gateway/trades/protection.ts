/** The watch over what was delivered: Steam lets the sender take some trades back for days. */
import { type BotContext, botQueue } from '../bots/bot.ts'
import type { TradeDeps } from './deps.ts'
import { judgeExchange } from './proof.ts'
import { record } from './record.ts'
import type { ShellDeps } from './trade-store.ts'

/** How soon it is gone through again if Steam fails. */
const RETRY_MS = 300_000

/** The history names trades by their beginning, and Steam's clock may be behind ours. */
const MARGIN_MS = 3_600_000

/** One read of the bot's history for all its protected trades. */
export async function readHistory(deps: ShellDeps, bot: BotContext): Promise<void> {
  const rows = await deps.trades.protectedTradesOf(bot.botId)
  if (rows.length === 0) return
  const oldest = Math.min(...rows.map((row) => (row.acceptedAt ?? row.createdAt).getTime()))
  const answer = await bot.session.listTrades(new Date(oldest - MARGIN_MS))
  if (answer.kind === 'unavailable') return retrySoon(deps, bot)
  const exchanges = new Map(answer.trades.map((exchange) => [exchange.tradeId, exchange]))
  for (const { id, steamTradeId, offerId } of rows) {
    const exchange = steamTradeId === null ? undefined : exchanges.get(steamTradeId)
    const loaded = await deps.trades.load(id)
    if (exchange === undefined || loaded === undefined || offerId === null) continue
    if (judgeExchange(loaded.trade, exchange).kind !== 'taken_back') continue
    await record(deps, { tradeId: id, writer: bot }, { kind: 'exchange_read', offerId, exchange })
  }
}

async function retrySoon({ trades, clock, historyEveryMs }: ShellDeps, bot: BotContext): Promise<void> {
  const lastAt = new Date(clock.now().getTime() - historyEveryMs + Math.min(RETRY_MS, historyEveryMs))
  await trades.postponeHistory(bot.botId, lastAt)
}

/** Has every bot whose deliveries can be taken back go through its history, once every `historyEveryMs`. */
export async function sweepHistories({ db, queue, clock, historyEveryMs }: TradeDeps): Promise<void> {
  const now = clock.now()
  const due = await db
    .updateTable('bot')
    .set({ history_at: now })
    .where('state', '!=', 'dead')
    .where((eb) =>
      eb.or([eb('history_at', 'is', null), eb('history_at', '<=', new Date(now.getTime() - historyEveryMs))]),
    )
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('trade')
          .select('trade.id')
          .whereRef('trade.bot_id', '=', 'bot.id')
          .where((or) => or.or([or('trade.state', '=', 'held'), or('trade.last_look_at', 'is not', null)])),
      ),
    )
    .returning('id')
    .execute()
  for (const { id } of due) {
    const name = botQueue(id)
    await queue.ensure(name)
    await db
      .transaction()
      .execute((tx) => queue.send(tx, name, { kind: 'history' }, { singletonKey: 'history' }))
  }
}
