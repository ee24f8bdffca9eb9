import { Gauge, type Registry } from 'prom-client'
import { GAME_FACTS, GAMES } from '../../contract/games.ts'
import type { Db } from '../db/client.ts'
import type { Clock } from '../kit/clock.ts'
import type { Log } from '../kit/log.ts'
import { endFarBars, listBars } from './bar-store.ts'
import type { FleetLimits } from './fleet.ts'
import { updateHeldItems } from './held-item-store.ts'
import { mendFarHistories, unreadSince } from './history-store.ts'
import { countedByGame, countItems, countItemsByGame } from './item-store.ts'
import { allowFarLogins, shortenFarLeases } from './lease-store.ts'
import { readSpread } from './process-store.ts'
import { botsWithoutRoom } from './spread.ts'
import { isUnheld, listBots } from './store.ts'
import type { TokenWatch } from './token-watch.ts'

export type BotGauges = {
  bots: Gauge<'state'>
  unheld: Gauge
  items: Gauge<'bot' | 'game'>
  room: Gauge<'bot' | 'game'>
  tokenSeconds: Gauge<'bot'>
  barredSeconds: Gauge<'bot' | 'scope' | 'reason'>
  historySeconds: Gauge<'bot'>
}

/** The log line names at most this many bots. */
const MOST_NAMED = 20

const STATES = ['online', 'offline', 'paused', 'dead', 'retired'] as const

export function createBotGauges(registry: Registry): BotGauges {
  const registers = [registry]
  return {
    bots: new Gauge({
      name: 'tradetill_bots',
      help: 'Bots by state; a dead one needs a new enrolment',
      labelNames: ['state'],
      registers,
    }),
    unheld: new Gauge({
      name: 'tradetill_bots_unheld',
      help: 'Bots that may work and that no gateway holds',
      registers,
    }),
    items: new Gauge({
      name: 'tradetill_bot_items',
      help: 'Items of a game in the hands of a bot',
      labelNames: ['bot', 'game'],
      registers,
    }),
    room: new Gauge({
      name: 'tradetill_bot_room',
      help: 'TRADETILL_BOT_ITEMS of a game minus the items that a bot has, not counting items on the way; absent for a retired bot',
      labelNames: ['bot', 'game'],
      registers,
    }),
    tokenSeconds: new Gauge({
      name: 'tradetill_bot_token_seconds',
      help: 'Time until the refresh token of a bot runs out',
      labelNames: ['bot'],
      registers,
    }),
    barredSeconds: new Gauge({
      name: 'tradetill_bot_barred_seconds',
      help: 'Time until a bot that Steam refused may try again; absent where it may trade',
      labelNames: ['bot', 'scope', 'reason'],
      registers,
    }),
    historySeconds: new Gauge({
      name: 'tradetill_bot_history_seconds',
      help: 'Time since the last complete pass through the trade history of a bot began, or else since its first item; absent where the bot never held an item or is retired',
      labelNames: ['bot'],
      registers,
    }),
  }
}

type SurveyDeps = {
  db: Db
  clock: Clock
  log: Log
  limits: Pick<FleetLimits, 'itemsHeld'>
  gauges: BotGauges
  watchTokens: TokenWatch
}

/**
 * Sets the gauges, updates the counts of items, watches the tokens, and logs an error while the gateways lack room for
 * bots. Several processes can call it at the same time.
 */
export async function surveyBots({ db, clock, log, limits, gauges, watchTokens }: SurveyDeps): Promise<void> {
  const now = clock.now()
  const nowMs = now.getTime()
  await countItems(db)
  await countItemsByGame(db)
  await updateHeldItems(db)
  const bots = await listBots(db)
  watchTokens(bots)
  const bars = await listBars(db)
  const unread = await unreadSince(db)
  const itemCounts = await countedByGame(db)
  const spread = await readSpread(db)
  const countByState = new Map<string, number>(STATES.map((state) => [state, 0]))
  // The reset comes after all reads: if a read failed after it, or a scrape came before the reads were done, the
  // figures would be missing, and the alerts about them would end.
  gauges.items.reset()
  gauges.room.reset()
  gauges.tokenSeconds.reset()
  gauges.barredSeconds.reset()
  gauges.historySeconds.reset()
  for (const { botId, scope, reason, until } of bars) {
    const bot = bots.find((other) => other.botId === botId)?.steamId
    if (bot !== undefined) gauges.barredSeconds.set({ bot, scope, reason }, (until.getTime() - nowMs) / 1000)
  }
  for (const { botId, steamId: bot, state, reachable, tokenExpiresAt } of bots) {
    // No process works for a retired bot, so an alert about its work would never end.
    const isRetired = state === 'retired'
    const unreadFrom = unread.get(botId)
    if (unreadFrom && !isRetired) gauges.historySeconds.set({ bot }, (nowMs - unreadFrom.getTime()) / 1000)
    const label = state === 'active' ? (reachable ? 'online' : 'offline') : state
    countByState.set(label, (countByState.get(label) ?? 0) + 1)
    for (const game of GAMES) {
      const items = itemCounts.get(botId)?.get(GAME_FACTS[game].appId) ?? 0
      gauges.items.set({ bot, game }, items)
      if (!isRetired) gauges.room.set({ bot, game }, Math.max(0, limits.itemsHeld[game] - items))
    }
    if (tokenExpiresAt) gauges.tokenSeconds.set({ bot }, (tokenExpiresAt.getTime() - nowMs) / 1000)
  }
  for (const [state, bots] of countByState) gauges.bots.set({ state }, bots)
  const unheld = bots.filter(isUnheld)
  gauges.unheld.set(unheld.length)
  const botsOverCapacity = botsWithoutRoom(spread.processes, spread.bots)
  if (botsOverCapacity === 0 || unheld.length === 0) return
  const about = {
    tooMany: botsOverCapacity,
    unheld: unheld.map(({ steamId }) => steamId).slice(0, MOST_NAMED),
  }
  log.error(about, 'bots had no gateway: raise TRADETILL_MAX_BOTS, or start another gateway')
}

type TimesDeps = Pick<SurveyDeps, 'db' | 'clock' | 'log'>

/**
 * Mends times in the bots' rows that a wrong clock set hours or years ahead. Until such a time came, no process would
 * read a bot's history, give a barred bot a trade, log a bot in whose token was refused, or hold a bot whose former
 * process was killed.
 */
export async function mendFutureTimes({ db, clock, log }: TimesDeps): Promise<void> {
  const now = clock.now()
  const histories = await mendFarHistories(db, now)
  const bars = await endFarBars(db, now)
  const logins = await allowFarLogins(db, now)
  const leases = await shortenFarLeases(db)
  if (histories + bars + logins + leases > 0)
    log.warn(
      { histories, bars, logins, leases },
      'times of bots lay far ahead, because a clock was wrong: they were mended',
    )
}
