/** Sweeps: they wake the bots of due trades, end trades that no bot will end, and report offline bots. */
import { INTENT_LIFE_MS } from './alarm.ts'
import type { TradeDeps } from './deps.ts'
import { record } from './record.ts'
import { botsOfOverdueTrades, mendFarTrades } from './sweep-store.ts'
import { aboutTrade, type ShellDeps } from './trade-store.ts'

/** Each query of a sweep returns at most this many trades. */
const MOST_DUE = 500

/** A bot is not woken again for the same trade for this long, so other due trades get their turn. */
const WAKE_AGAIN_MS = 30_000

/**
 * Ends the trades that no bot will end, frees the parts of stores' limits that old losses no longer use, and wakes the
 * bots of the other trades that are due.
 */
export async function sweepTrades(deps: ShellDeps): Promise<void> {
  await refuseStaleIntents(deps)
  await endWithoutAnswer(deps)
  const { trades, clock, log } = deps
  const now = clock.now()
  await trades.freeExpiredRoom(now, MOST_DUE)
  const nextAt = new Date(now.getTime() + WAKE_AGAIN_MS)
  const due = await trades.takeDueTrades({ now, nextAt, limit: MOST_DUE })
  for (const trade of due) {
    try {
      await trades.wakeBot(trade.botId, { kind: 'trade', tradeId: trade.id })
    } catch (error) {
      log.error({ err: error, ...aboutTrade(trade) }, 'bot of a due trade could not be woken')
    }
  }
  if (due.length === MOST_DUE) log.warn({ due: due.length }, 'more trades are due than one sweep wakes')
}

/** Refuses intents that no bot took up in time. Nothing was sent, so any process may do this. */
async function refuseStaleIntents(deps: ShellDeps): Promise<void> {
  const createdBefore = new Date(deps.clock.now().getTime() - INTENT_LIFE_MS)
  for (const trade of await deps.trades.staleIntents(createdBefore, MOST_DUE)) {
    const about = aboutTrade(trade)
    try {
      const recorded = await record(deps, { tradeId: trade.id }, { kind: 'no_bot_came' })
      // A bot may have taken the intent up since the query.
      if (recorded === undefined || recorded.events.length === 0) continue
      deps.log.error(
        { ...about, botId: String(trade.botId) },
        'trade was refused, because no bot took it up in time',
      )
    } catch (error) {
      deps.log.error({ err: error, ...about }, 'trade that no bot took up could not be ended')
    }
  }
}

/**
 * Gives up trades whose end Steam never reported, and those of retired bots. This needs no bot, so a lost bot leaves
 * nothing open.
 */
async function endWithoutAnswer(deps: ShellDeps): Promise<void> {
  for (const { because, ...trade } of await deps.trades.tradesToEnd(deps.clock.now(), MOST_DUE)) {
    try {
      await record(deps, { tradeId: trade.id }, { kind: 'given_up', because })
    } catch (error) {
      deps.log.error(
        { err: error, ...aboutTrade(trade) },
        'trade without an answer from Steam could not be ended',
      )
    }
  }
}

/** Younger trades are not reported, because their bot may soon be back. */
const LEAST_AGE_MS = 120_000

/** Logs an error for each offline bot for which trades wait. Call it once a minute. */
export async function reportOverdue({ db, clock, log }: TradeDeps): Promise<void> {
  const nowMs = clock.now().getTime()
  const rows = await botsOfOverdueTrades(db, {
    madeBefore: new Date(nowMs - LEAST_AGE_MS),
    // The sweep postpones an overdue trade by this time.
    dueBefore: new Date(nowMs + WAKE_AGAIN_MS),
  })
  for (const { id, name, state, state_reason: reason, trades } of rows) {
    const about = { botId: String(id), bot: name, state, reason, trades: Number(trades) }
    log.error(about, 'trades wait for a bot that is offline: bot list shows why')
  }
}

/**
 * Mends the times of trades that a wrong clock set hours or years ahead. Without this sweep, an offer would stay open
 * until then, its items would stay reserved, and nobody would search for an offer whose send got no answer.
 */
export async function sweepFarTrades({
  db,
  clock,
  log,
}: Pick<TradeDeps, 'db' | 'clock' | 'log'>): Promise<void> {
  const trades = await mendFarTrades(db, clock.now())
  if (trades > 0)
    log.warn({ trades }, 'times of trades lay far ahead, because a clock was wrong: they were mended')
}
