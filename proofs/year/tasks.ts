/**
 * The automatic requests of a gateway and its vault to the database, made by their own code. `year.test.ts` checks that
 * none on a growing table is missing.
 */
import { randomUUID } from 'node:crypto'
import { Kysely, PostgresDialect, sql } from 'kysely'
import { z } from 'zod'
import { botQueue } from '../../gateway/bots/bot.ts'
import { heldByGame } from '../../gateway/bots/item-store.ts'
import { renewLease, takeLeases } from '../../gateway/bots/lease-store.ts'
import { beatProcess, readSpread } from '../../gateway/bots/process-store.ts'
import type { Db } from '../../gateway/db/client.ts'
import type { Tables } from '../../gateway/db/schema.ts'
import { judgeDeparture } from '../../gateway/departures/departure.ts'
import { createDepartureStore } from '../../gateway/departures/store.ts'
import { viewReader } from '../../gateway/deposits/shopper-view.ts'
import { createDriftStore } from '../../gateway/drift/store.ts'
import { watchEpoch } from '../../gateway/epochs/service.ts'
import { registerStorageMetrics } from '../../gateway/http/metrics-store.ts'
import { createMetrics } from '../../gateway/metrics.ts'
import { KEEP_SETTINGS, keepOf } from '../../gateway/retention/settings.ts'
import type { SteamTrade } from '../../gateway/steam/steam.ts'
import { epochSweep, sweepsOf } from '../../gateway/sweeps.ts'
import type { Till } from '../../gateway/testing/till.ts'
import { createTradeStore } from '../../gateway/trades/postgres-store.ts'
import { record } from '../../gateway/trades/record.ts'
import { ownerOf } from '../../gateway/trades/store.ts'
import { durationsOf } from '../../gateway/webhooks/attempt-store.ts'
import { claimLane, deliveryWriter, endpointsDue } from '../../gateway/webhooks/store.ts'
import type { ObservedPool } from './explained-pool.ts'
import { jobsOf } from './jobs.ts'
import { STORAGE } from './rows.ts'
import type { Task } from './task.ts'
import { visitsOf } from './visits.ts'

const BOT = 1n
const KEEP = keepOf(z.object(KEEP_SETTINGS).parse({}))
const DAY_MS = 86_400_000

export function tasksOf({ deps }: Pick<Till, 'deps'>, { pool }: ObservedPool): { tasks: Task[]; db: Db } {
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  const observedDeps = { ...deps, db, departures: createDepartureStore({ ...deps, db }) }
  const trades = { ...observedDeps, trades: createTradeStore(observedDeps), drift: createDriftStore(db) }
  const events = { ...observedDeps, addDeliveries: deliveryWriter(observedDeps) }
  const metrics = createMetrics()
  registerStorageMetrics(metrics.registry, db)
  const epochs = watchEpoch({
    ...observedDeps,
    memory: { lastSeen: () => undefined, keep() {} },
    addDeliveries: events.addDeliveries,
    afterFailover: 'stop',
    monotonicMs: () => performance.now(),
    gauge: metrics.stoppedByRestore,
  })
  const sweeps = [
    epochSweep(epochs),
    ...sweepsOf({
      trades,
      box: observedDeps.box,
      keep: KEEP,
      rules: deps.rules,
      fleet: deps.limits.fleet,
      events,
      pool,
      metrics,
    }),
  ]
  const tasks = [
    ...sweeps.map(({ name, work }) => ({ name, run: work })),
    ...tasksOfBots(trades),
    taskOfDeparture(trades),
    ...tasksOfCredits(trades),
    ...tasksOfWebhooks(trades),
    { name: 'metrics', run: () => metrics.registry.metrics() },
    {
      name: 'poll of a waiting page',
      run: () => viewReader(db, 'http://steam.test')(['0'.repeat(32), '1'.repeat(32)]),
    },
    ...visitsOf(trades),
    ...jobsOf({ deps: trades, pool }),
  ]
  return { tasks, db }
}

type Deps = Till['deps']

function tasksOfBots({ trades, clock, db }: Deps): Task[] {
  const owner = randomUUID()
  const process = { owner, maxBots: 50, keyFingerprint: 'f'.repeat(64) }
  return [
    { name: 'beat of a process', run: () => beatProcess(db, process) },
    { name: 'spread of the bots', run: () => readSpread(db) },
    {
      name: 'leases',
      async run() {
        await sql`update bot set lease_until = null where id = ${BOT}`.execute(db)
        for (const lease of await takeLeases(db, owner, 1)) await renewLease(db, lease)
      },
    },
    { name: 'open trades of a bot', run: () => trades.openTradesOf(BOT) },
    { name: 'protected trades of a bot', run: () => trades.protectedTradesOf(BOT, ['t1', 't2']) },
    { name: 'oldest protected trade of a bot', run: () => trades.oldestProtectedOf(BOT) },
    { name: 'trades of a bot by code', run: () => trades.tradesByCode(BOT, ['c1', 'c2']) },
    { name: 'trades of offers', run: () => trades.tradesOfOffers(['o1', 'o2']) },
    {
      name: 'owner of a number of Steam',
      run: () => ownerOf(db, { tradeId: 1n, offerId: 'o2', steamTradeId: 't2' }),
    },
    {
      name: 'partners of a bot',
      run: () => trades.partnersSince(BOT, new Date(clock.now().getTime() - DAY_MS)),
    },
    { name: 'items of a bot by game', run: () => heldByGame(db, BOT) },
    { name: 'history of a bot', run: () => trades.historyOf(BOT) },
  ]
}

/** Calls that credit a trade of `rows.ts` whose offer is open, and that look at one that is still protected. */
function tasksOfCredits(deps: Deps): Task[] {
  const { db } = deps
  const tradeIn = (state: 'active' | 'held') =>
    db
      .selectFrom('trade')
      .innerJoin('bot', 'bot.id', 'trade.bot_id')
      .select([
        'trade.id',
        'steam_offer_id',
        'steam_trade_id',
        'partner_steam_id',
        'bot_id',
        'bot.lease_epoch',
      ])
      .where('trade.state', '=', state)
      .orderBy('trade.id', 'desc')
      .limit(1)
      .executeTakeFirstOrThrow()
  const readSteamTrade = async (state: 'active' | 'held') => {
    const row = await tradeIn(state)
    await deps.queue.ensure(botQueue(row.bot_id))
    const items = await db.selectFrom('trade_item').selectAll().where('trade_id', '=', row.id).execute()
    const received = items.map((item) => ({
      appId: item.app_id,
      contextId: item.context_id,
      assetId: item.asset_id,
      newAssetId: `r${item.asset_id}`,
      rolledBackAssetId: null,
    }))
    const steamTradeId = row.steam_trade_id ?? ''
    const steamTrade: SteamTrade = {
      tradeId: steamTradeId,
      partnerSteamId: row.partner_steam_id,
      received,
      given: [],
      state: 'complete',
      begunAt: deps.clock.now(),
      settlesAt: new Date(deps.clock.now().getTime() + 8 * DAY_MS),
      rollbackOf: null,
    }
    const fact = { kind: 'steam_trade_read', offerId: row.steam_offer_id ?? '', steamTrade } as const
    return record(deps, { tradeId: row.id, writer: { leaseEpoch: row.lease_epoch } }, fact)
  }
  return [
    {
      name: 'credit',
      async run() {
        const recorded = await readSteamTrade('active')
        if (recorded?.trade.state !== 'held') throw new Error('the delivery was not credited')
      },
    },
    { name: 'look at a delivery', run: () => readSteamTrade('held') },
  ]
}

/** The departure of a trade's items, as the bot's history reports it. */
function taskOfDeparture({ clock, db }: Deps): Task {
  const departures = createDepartureStore({ db, clock })
  return {
    name: 'departure of a bot',
    async run() {
      const items = await db
        .selectFrom('trade_item')
        .select(['asset_id', 'received_asset_id', 'app_id as appId', 'context_id as contextId'])
        .where('trade_id', '=', (query) =>
          query
            .selectFrom('trade')
            .select('id')
            .where('bot_id', '=', BOT)
            .where('state', '=', 'final')
            .orderBy('id', 'desc')
            .limit(1),
        )
        .execute()
      const given = items.map(({ appId, contextId, asset_id: id, received_asset_id: assetId }) => ({
        appId,
        contextId,
        assetId: assetId ?? '',
        newAssetId: `9${id}`,
        rolledBackAssetId: null,
      }))
      const steamTrade: SteamTrade = {
        tradeId: 'departed',
        partnerSteamId: STORAGE,
        state: 'complete',
        received: [],
        given,
        settlesAt: null,
        rollbackOf: null,
        begunAt: clock.now(),
      }
      const noted = await departures.noteDeparture(BOT, steamTrade, (known, around) =>
        judgeDeparture(known, steamTrade, { destination: undefined, ...around }),
      )
      if (noted !== undefined && noted.items !== items.length)
        throw new Error('the items that left were not in custody')
    },
  }
}

function tasksOfWebhooks({ clock, db }: Deps): Task[] {
  return [
    { name: 'endpoints with due deliveries', run: () => endpointsDue(db, clock.now()) },
    { name: 'pace of an endpoint', run: () => durationsOf(db, [1n]) },
    ...(['first', 'again'] as const).map((lane) => ({
      name: `deliveries of the lane ${lane}`,
      run: () => claimLane({ db, clock }, { endpointId: 1n, lane }, 8),
    })),
  ]
}
