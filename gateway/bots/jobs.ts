/** Periodic checks: items held, states of the bots. */
import { Gauge, type Registry } from 'prom-client'
import type { Db } from '../db/client.ts'
import type { Clock } from '../kit/clock.ts'
import { listBars } from './bar-store.ts'
import { countItems } from './item-store.ts'
import { listBots } from './store.ts'

export type BotGauges = {
  bots: Gauge<'state'>
  items: Gauge<'bot'>
  tokenSeconds: Gauge<'bot'>
  barredSeconds: Gauge<'bot' | 'scope' | 'reason'>
}

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
    items: new Gauge({
      name: 'tradetill_bot_items',
      help: 'Items in the hands of a bot; together with those on the way at most TRADETILL_BOT_ITEMS',
      labelNames: ['bot'],
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
  }
}

type SurveyDeps = { db: Db; clock: Clock; gauges: BotGauges }

/** Call this every minute. Any number of processes may. */
export async function surveyBots({ db, clock, gauges }: SurveyDeps): Promise<void> {
  const now = clock.now()
  const nowMs = now.getTime()
  await countItems(db, now)
  const count = new Map<string, number>(STATES.map((state) => [state, 0]))
  gauges.items.reset()
  gauges.tokenSeconds.reset()
  gauges.barredSeconds.reset()
  const bots = await listBots(db)
  for (const { botId, scope, reason, until } of await listBars(db)) {
    const bot = bots.find((other) => other.botId === botId)?.steamId
    if (bot !== undefined) gauges.barredSeconds.set({ bot, scope, reason }, (until.getTime() - nowMs) / 1000)
  }
  for (const { steamId: bot, state, reachable, itemsHeld, tokenExpiresAt } of bots) {
    const shown = state === 'active' ? (reachable ? 'online' : 'offline') : state
    count.set(shown, (count.get(shown) ?? 0) + 1)
    gauges.items.set({ bot }, itemsHeld)
    if (tokenExpiresAt) gauges.tokenSeconds.set({ bot }, (tokenExpiresAt.getTime() - nowMs) / 1000)
  }
  for (const [state, bots] of count) gauges.bots.set({ state }, bots)
}
