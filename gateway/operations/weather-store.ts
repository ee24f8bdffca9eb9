import {
  type CallsOfBot,
  callsByHour,
  callsByMethod,
  callsOfMethod,
  type HourOfCalls,
  type MethodCalls,
} from '../bots/call-store.ts'
import { findBot } from '../bots/view-store.ts'
import type { Db } from '../db/client.ts'
import type { OutageTable } from '../db/time-tables.ts'
import type { Notice } from '../outages/outage.ts'
import { readNotice } from '../outages/store.ts'

export type Weather = {
  outages: { kind: OutageTable['kind']; since: Date }[]
  /** Notice of the current maintenance; null if it is off. */
  notice: Notice | null
  bots: {
    botId: bigint
    bot: string
    online: boolean
    offersFailingSince: Date | null
    inventoriesFailingSince: Date | null
  }[]
  /** Calls of all bots in the last 24 hours, by hour. */
  hours: HourOfCalls[]
  /** Calls in the last 24 hours by method: of the filter's bot, or without one, of all bots and for public pages. */
  methods: (MethodCalls & { method: string })[]
  /** Calls of one method, by bot and for public pages; empty unless a method was asked for. */
  methodBots: CallsOfBot[]
}

export type WeatherFilter = { method?: string | undefined; bot?: string | undefined }

/** Returns undefined if there is no such bot. */
export async function readWeather(db: Db, filter: WeatherFilter = {}): Promise<Weather | undefined> {
  const bot = filter.bot === undefined ? undefined : await findBot(db, filter.bot)
  if (filter.bot !== undefined && bot === undefined) return undefined
  const outages = await db.selectFrom('outage').select(['kind', 'since']).orderBy('since').execute()
  const notice = (await readNotice(db)) ?? null
  const bots = await db
    .selectFrom('bot')
    .select(['id as botId', 'name as bot', 'online'])
    .select(['offers_failing_since as offersFailingSince'])
    .select(['inventories_failing_since as inventoriesFailingSince'])
    .where('state', 'in', ['active', 'paused', 'dead'])
    .orderBy('id')
    .limit(1_000)
    .execute()
  return {
    outages,
    notice,
    bots,
    hours: await callsByHour(db),
    methods: await callsByMethod(db, bot?.id ?? null),
    methodBots: filter.method === undefined ? [] : await callsOfMethod(db, filter.method),
  }
}
