/** Does the due work on a bot's trades, in the process that holds the bot's lease. */
import type { BotContext, BotHandlers, TradeLane } from '../bots/bot.ts'
import { type DueStep, laneOf } from './alarm.ts'
import { createOfferLists, type Shell } from './offer-list.ts'
import { cancel, prove, readOffer } from './offers.ts'
import { createOrphans } from './orphans.ts'
import { createHistories } from './protection.ts'
import { record } from './record.ts'
import { reconcile, send } from './send.ts'
import { isDelivered, type Trade } from './trade.ts'
import type { LoadedTrade, ShellDeps } from './trade-store.ts'
import { review, watch } from './watch.ts'

export function tradeHandlers(
  deps: ShellDeps,
): Pick<BotHandlers, 'laneOf' | 'trade' | 'refresh' | 'history' | 'watch'> {
  const orphans = createOrphans(deps)
  const histories = createHistories(deps)
  const shell: Shell = { ...deps, lists: createOfferLists() }
  return {
    laneOf: (bot, tradeId) => laneOfTrade(deps, bot, tradeId),
    trade: (bot, tradeId) => advance(shell, bot, tradeId),
    // Reads the offer before its alarm is due: the shopper has come back to the page.
    refresh: (bot, tradeId) => advance(shell, bot, tradeId),
    history: (bot) => histories.read(bot),
    watch: (bot) => watch(shell, bot, { advance, orphans }),
  }
}

/**
 * Does the due work on a trade, and any work that becomes due as a result. Safe to call at any time, any number of
 * times.
 */
async function advance(deps: Shell, bot: BotContext, tradeId: bigint): Promise<void> {
  const done = new Set<DueStep>(['nothing'])
  let lastDueAt: Date | null | undefined
  for (;;) {
    const loaded = await deps.trades.load(tradeId)
    if (loaded === undefined || loaded.facts.botId !== bot.botId) return
    const { dueAt } = loaded.facts
    const step = await dueStepOf(deps, loaded.trade)
    // Stop if nothing is due, or only a step that this call has done or must leave to a later call.
    if (done.has(step)) {
      if (step === 'nothing' || dueAt?.getTime() === lastDueAt?.getTime()) await setAlarm(deps, bot, loaded)
      return
    }
    lastDueAt = dueAt
    await takeStep(deps, bot, { loaded, step })
    // A trade that ends in this call is reviewed later, and an offer that was just sent or found needs no read.
    done.add(step).add('review')
    if (step === 'send' || step === 'reconcile') done.add('read')
  }
}

async function laneOfTrade(
  deps: ShellDeps,
  bot: BotContext,
  tradeId: bigint,
): Promise<TradeLane | undefined> {
  const loaded = await deps.trades.load(tradeId)
  if (loaded === undefined || loaded.facts.botId !== bot.botId) return undefined
  return laneOf(await dueStepOf(deps, loaded.trade))
}

/**
 * Sets the alarm that follows from the trade's state. The current alarm can be outdated: another process has done the
 * work, or the sweep postponed the trade when it woke the bot, and the read then brought no news. An outdated alarm
 * would go off again and again.
 */
async function setAlarm(deps: Shell, bot: BotContext, loaded: LoadedTrade): Promise<void> {
  const { dueAt } = loaded.facts
  const when = deps.core.alarm(loaded.trade, deps.clock.now())
  if (dueAt !== null && when?.getTime() !== dueAt.getTime()) await deps.trades.postpone(loaded, bot, when)
}

/** Only deadlines depend on whether Steam is down. Everything else is tried in any case. */
async function dueStepOf(deps: ShellDeps, trade: Trade): Promise<DueStep> {
  const now = deps.clock.now()
  const step = deps.core.dueStep(trade, now)
  if (step !== 'cancel') return step
  return deps.core.dueStep(trade, now, { isSteamDown: await deps.trades.isSteamDown() })
}

async function takeStep(
  deps: Shell,
  bot: BotContext,
  { loaded, step }: { loaded: LoadedTrade; step: DueStep },
): Promise<void> {
  const { trade, facts } = loaded
  switch (step) {
    case 'send':
      return send(deps, bot, loaded)
    case 'refuse':
      await record(deps, { tradeId: facts.id }, { kind: 'no_bot_came' })
      return
    case 'reconcile':
      return reconcile(deps, bot, loaded)
    case 'read':
      return readOffer(deps, bot, loaded)
    case 'prove':
    case 'settle':
    case 'look_again': {
      if (trade.state !== 'active' && !isDelivered(trade)) return
      const { steamTradeId, offerId } = trade
      if (steamTradeId !== null) await prove(deps, bot, { loaded, steamTradeId, offerId })
      return
    }
    case 'cancel':
      return cancel(deps, bot, loaded)
    case 'review':
      return review(deps, bot, loaded)
    case 'nothing':
      return
    default:
      return step satisfies never
  }
}
