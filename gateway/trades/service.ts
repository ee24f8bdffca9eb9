/** What the holder of a bot's lease does about its trades: the shell around `trade.ts`. */
import type { BotContext, BotHandlers } from '../bots/bot.ts'
import { cancel, readAndJudge } from './offers.ts'
import { reconcile, send } from './send.ts'
import { giveUpIntent, release, type SettleDeps } from './settle.ts'
import { type LoadedTrade, later, loadTrade } from './store.ts'
import { dueAction, judgeProof, PAUSES_MS } from './trade.ts'
import { review, watch } from './watch.ts'

/** Handlers of the bots room for trades. */
export function tradeHandlers(deps: SettleDeps): Pick<BotHandlers, 'trade' | 'look' | 'watch'> {
  return {
    trade: (bot, tradeId) => advance(deps, bot, tradeId),
    look: (bot, tradeId) => look(deps, bot, tradeId),
    watch: (bot) => watch(deps, bot),
  }
}

/** Does what is due for a trade. Safe to call at any time and any number of times. */
async function advance(deps: SettleDeps, bot: BotContext, tradeId: bigint): Promise<void> {
  const loaded = await loadTrade(deps.db, tradeId)
  if (loaded === undefined || loaded.row.bot_id !== bot.botId) return
  const due = dueAction(loaded.trade, deps.clock.now())
  switch (due) {
    case 'send':
      return send(deps, bot, loaded)
    case 'give_up':
      return giveUpIntent(deps, loaded.row)
    case 'reconcile':
      return reconcile(deps, bot, loaded)
    case 'prove':
    case 'read':
      return readAndJudge(deps, bot, loaded)
    case 'cancel':
      return cancel(deps, bot, loaded)
    case 'release':
      return settle(deps, bot, loaded)
    case 'review':
      return review(deps, bot, loaded)
    case 'nothing':
      return
    default:
      return due satisfies never
  }
}

/** The protection is over: one last look at the trade, then the held part is the store's. */
async function settle(deps: SettleDeps, bot: BotContext, loaded: LoadedTrade): Promise<void> {
  const { trade, row } = loaded
  if (trade.state !== 'held') return
  const lookIn = (ms: number) =>
    later(deps.db, { loaded, writer: bot, when: new Date(deps.clock.now().getTime() + ms) })
  const answer = await bot.session.readTradeStatus(trade.steamTradeId)
  if (answer.kind !== 'trade') return lookIn(PAUSES_MS.release)
  if (judgeProof(trade, answer.trade) === 'delivered') return release(deps, { row, writer: bot })
  deps.log.error({ trade: String(row.id), state: answer.trade.state }, 'a held trade was taken back on Steam')
  return lookIn(PAUSES_MS.reversed)
}

/** One read, because the shopper came back to the page. */
async function look(deps: SettleDeps, bot: BotContext, tradeId: bigint): Promise<void> {
  const loaded = await loadTrade(deps.db, tradeId)
  if (loaded === undefined || loaded.row.bot_id !== bot.botId) return
  return readAndJudge(deps, bot, loaded)
}
