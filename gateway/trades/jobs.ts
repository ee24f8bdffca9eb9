/** Sweeps that find what a lost job would have woken. */
import { INTENT_LIFE_MS } from './alarm.ts'
import type { TradeDeps } from './deps.ts'
import { record } from './record.ts'
import { botsOfOverdueTrades } from './sweep-store.ts'
import { aboutTrade, type ShellDeps } from './trade-store.ts'

const MOST_DUE = 500

/** A trade that was woken is not woken again before this: others that are due get their turn. */
const WAKE_AGAIN_MS = 30_000

/** Wakes the bot of every trade that is due. */
export async function sweepTrades(deps: ShellDeps): Promise<void> {
  await refuseStaleIntents(deps)
  await endHopeless(deps)
  const { trades, clock, log } = deps
  const now = clock.now()
  await trades.giveBackRoom(now, MOST_DUE)
  const nextAt = new Date(now.getTime() + WAKE_AGAIN_MS)
  const due = await trades.takeDueTrades({ now, nextAt, limit: MOST_DUE })
  for (const trade of due) {
    try {
      await trades.wakeBot(trade.botId, { kind: 'trade', tradeId: trade.id })
    } catch (error) {
      log.error({ err: error, ...aboutTrade(trade) }, 'a trade that is due could not be woken')
    }
  }
  if (due.length === MOST_DUE) log.warn({ due: due.length }, 'more trades are due than one sweep wakes')
}

/** Their bot is gone. Nothing was said to Steam, so any process may tell the shopper. */
async function refuseStaleIntents(deps: ShellDeps): Promise<void> {
  const before = new Date(deps.clock.now().getTime() - INTENT_LIFE_MS)
  for (const trade of await deps.trades.staleIntents(before, MOST_DUE)) {
    const about = aboutTrade(trade)
    try {
      await record(deps, { tradeId: trade.id }, { kind: 'nobody_came' })
      deps.log.error({ ...about, botId: String(trade.botId) }, 'no bot took up a trade in time')
    } catch (error) {
      deps.log.error({ err: error, ...about }, 'a trade that no bot took up could not be ended')
    }
  }
}

/** Ends what Steam never said the end of. No bot is needed for it, so one that never comes back holds nothing open. */
async function endHopeless(deps: ShellDeps): Promise<void> {
  for (const { because, ...trade } of await deps.trades.hopelessTrades(deps.clock.now(), MOST_DUE)) {
    try {
      await record(deps, { tradeId: trade.id }, { kind: 'given_up', because })
    } catch (error) {
      deps.log.error(
        { err: error, ...aboutTrade(trade) },
        'a trade without a word of Steam could not be ended',
      )
    }
  }
}

/** How long the trades of a bot may be overdue before the operator is called. */
const OVERDUE_MS = 120_000

/** Calls the operator where trades wait for a bot that no process speaks for. Run it once a minute. */
export async function reportOverdue({ db, clock, log }: TradeDeps): Promise<void> {
  const now = clock.now().getTime()
  const rows = await botsOfOverdueTrades(db, {
    madeBefore: new Date(now - OVERDUE_MS),
    dueBefore: new Date(now + WAKE_AGAIN_MS),
  })
  for (const { id, name, state, state_reason: reason, trades } of rows) {
    const about = { botId: String(id), bot: name, state, reason, trades: Number(trades) }
    log.error(about, 'trades wait for a bot that is out of service: enrol it again, or look at its account')
  }
}
