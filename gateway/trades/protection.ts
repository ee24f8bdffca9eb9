/** The watch over what was delivered: Steam lets the sender take some trades back for days. */
import type { BotContext } from '../bots/bot.ts'
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
  const answer = await bot.session.listSteamTrades(new Date(oldest - MARGIN_MS))
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

/** Makes every bot with deliveries that can be taken back read its history, once every `historyEveryMs`. */
export async function sweepHistories({ trades, clock, historyEveryMs }: ShellDeps): Promise<void> {
  const now = clock.now()
  const lastBefore = new Date(now.getTime() - historyEveryMs)
  for (const botId of await trades.takeDueHistories({ now, lastBefore })) {
    await trades.wakeBot(botId, { kind: 'history' })
  }
}
