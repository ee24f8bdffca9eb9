/** Periodic checks: items held, states of the bots. */
import { Gauge, type Registry } from 'prom-client'
import type { Db } from '../db/client.ts'
import type { Clock } from '../kit/clock.ts'
import { countItems } from './item-store.ts'
import { listBots } from './store.ts'

export type BotGauges = {
  bots: Gauge<'state'>
  items: Gauge<'bot'>
  tokenSeconds: Gauge<'bot'>
}

const STATES = ['online', 'offline', 'paused', 'dead'] as const

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
  for (const { steamId: bot, state, reachable, itemsHeld, tokenExpiresAt } of await listBots(db)) {
    const shown = state === 'active' ? (reachable ? 'online' : 'offline') : state
    count.set(shown, (count.get(shown) ?? 0) + 1)
    gauges.items.set({ bot }, itemsHeld)
    if (tokenExpiresAt) gauges.tokenSeconds.set({ bot }, (tokenExpiresAt.getTime() - nowMs) / 1000)
  }
  for (const [state, bots] of count) gauges.bots.set({ state }, bots)
}
