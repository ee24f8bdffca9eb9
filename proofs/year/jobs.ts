/** Automatic work that `tasks.ts` adds to the sweeps and visits. */
import { sql } from 'kysely'
import type { BotContext } from '../../gateway/bots/bot.ts'
import { createCallCounts } from '../../gateway/bots/call-counts.ts'
import { readMark } from '../../gateway/console/mark-store.ts'
import { judgeDeparture, judgeUndoing } from '../../gateway/departures/departure.ts'
import { createDepartureStore } from '../../gateway/departures/store.ts'
import { sweepWishes } from '../../gateway/departures/wish.ts'
import { type DriftStore, driftHandler } from '../../gateway/drift/watch.ts'
import { checkLedger } from '../../gateway/ledger/jobs.ts'
import { createMetrics } from '../../gateway/metrics.ts'
import { watchOutages } from '../../gateway/outages/service.ts'
import type { SteamTrade } from '../../gateway/steam/steam.ts'
import { UNOBSERVED } from '../../gateway/steam/turns.ts'
import { alertSweeps, countSweeps } from '../../gateway/sweeps.ts'
import { type FakeSession, fakeSession } from '../../gateway/testing/fake-steam.ts'
import type { TillDeps } from '../../gateway/testing/till.ts'
import { createVitals } from '../../gateway/vitals/vitals.ts'
import { attemptDelivery } from '../../gateway/webhooks/delivery.ts'
import type { SendResult } from '../../gateway/webhooks/sender.ts'
import { claimLane } from '../../gateway/webhooks/store.ts'
import { tillIn } from '../../vault/markets/till-store.ts'
import type { Query } from '../../vault/till-database.ts'
import { wishesIn } from '../../vault/wishes/store.ts'
import type { ObservedPool } from './explained-pool.ts'
import type { Task } from './task.ts'

const BOT = 1n
const BOT_STEAM_ID = '76561197000000001'
const MINUTE_MS = 60_000

type Year = { deps: TillDeps & { drift: DriftStore }; pool: ObservedPool['pool'] }

export function jobsOf(year: Year): Task[] {
  return [
    ...tasksOfCounts(year),
    ...tasksOfOperators(year),
    ...tasksOfOutages(year),
    ...tasksOfLooks(year),
    ...tasksOfAttempts(year),
    ...tasksOfVault(year),
    ...tasksOfRules(year),
    taskOfLedgerCheck(year),
  ]
}

/** Work that stores how many calls went to Steam, and how quickly pages loaded. */
function tasksOfCounts({ deps: { db } }: Year): Task[] {
  const calls = createCallCounts(UNOBSERVED)
  const vitals = createVitals()
  return countSweeps(db, { calls, metrics: { vitals } }).map(({ name, work }) => ({
    name,
    run() {
      calls.request('GetTradeOffers', { outcome: 'answered', seconds: 0.1, account: BOT_STEAM_ID })
      vitals.add({ screen: 'deposit', device: 'phone', metric: 'LCP' }, 1_200)
      return work()
    },
  }))
}

function tasksOfOperators({ deps }: Year): Task[] {
  const config = {
    alerts: { url: 'http://127.0.0.1:9/', secret: 'whsec_' },
    console: undefined,
    mode: 'sandbox',
  } as const
  return [
    ...alertSweeps(config, deps).map(({ name, work }) => ({ name, run: work })),
    { name: 'mark of the console', run: () => readMark(deps.db) },
  ]
}

/** The work that gives shoppers back the time that an outage of Steam cost them. */
const tasksOfOutages = ({ deps }: Year): Task[] => [
  {
    name: 'end of an outage',
    async run() {
      const since = new Date(deps.clock.now().getTime() - MINUTE_MS)
      await deps.db
        .insertInto('outage')
        .values([
          { kind: 'offers', since },
          { kind: 'deposits', since },
        ])
        .execute()
      await watchOutages({ ...deps, metrics: createMetrics() })
    },
  },
]

function tasksOfLooks({ deps }: Year): Task[] {
  const { db } = deps
  const departures = createDepartureStore(deps)
  const asset = { appId: 730, contextId: '2', assetId: 'q1', newAssetId: 'q2', rolledBackAssetId: null }
  const steamTrade: SteamTrade = {
    tradeId: 'undone',
    partnerSteamId: '76561198999999999',
    state: 'rolled_back',
    received: [],
    given: [asset],
    settlesAt: null,
    rollbackOf: null,
    begunAt: deps.clock.now(),
  }
  const botOf = async (session: FakeSession): Promise<BotContext> => {
    const row = await db
      .selectFrom('bot')
      .select('lease_epoch')
      .where('id', '=', BOT)
      .executeTakeFirstOrThrow()
    return { botId: BOT, session, leaseEpoch: row.lease_epoch, mayWrite: () => true }
  }
  return [
    {
      name: 'look at the inventory of a bot',
      async run() {
        const session = fakeSession(BOT_STEAM_ID)
        session.ownItems = [
          { appId: 730, contextId: '2', assetId: 'stray', marketHashName: 'AK-47 | Redline (Field-Tested)' },
        ]
        const bot = await botOf(session)
        await driftHandler(deps)(bot)
        const { rows } = await sql<{ item: string }>`
          select trade_id || '-' || asset_id as item from held_item where bot_id = ${BOT} limit 1`.execute(db)
        const learnt = rows.map(({ item }) => ({ item, assetId: 'learnt' }))
        await deps.drift.learnAssetIds(BOT, { leaseEpoch: bot.leaseEpoch, now: deps.clock.now() }, learnt)
      },
    },
    {
      name: 'items that left a bot and came back',
      async run() {
        await departures.watchedFrom(BOT)
        await departures.underWay(BOT, { limit: 100, after: '' })
        await departures.findDepartures(BOT, ['undone'])
        await departures.noteDeparture(BOT, steamTrade, (known, around) =>
          judgeDeparture(known, { ...steamTrade, state: 'complete' }, { destination: undefined, ...around }),
        )
        await departures.bookSentBack(BOT, { steamTradeId: 'back', received: [{ ...asset, assetId: 'q2' }] })
        await departures.bookGivenBack(BOT, steamTrade, (known) => judgeUndoing(known, steamTrade))
        await departures.bookLate(BOT)
      },
    },
  ]
}

/**
 * Webhook deliveries: one that the store accepts, one that it refuses, one whose process ends, and one whose endpoint
 * answers that it is gone.
 */
function tasksOfAttempts({ deps }: Year): Task[] {
  // The answer 410 disables an endpoint, so each run takes another one.
  let lastEndpointId = 1n
  const attempt = async (endpointId: bigint, result: SendResult, signal?: AbortSignal) => {
    const [claim] = await claimLane(deps, { endpointId, lane: 'first' }, 1)
    if (claim === undefined) return
    const options = { send: async () => result, secretsOf: () => [], random: () => 0.5 }
    await attemptDelivery({ ...deps, ...options }, claim, signal)
  }
  const answered = (status: number): SendResult => ({ kind: 'answered', status, text: '' })
  return [
    {
      name: 'attempts of webhooks',
      async run() {
        await attempt(1n, answered(204))
        await attempt(1n, answered(500))
        await attempt(1n, answered(204), AbortSignal.abort())
        lastEndpointId += 1n
        await attempt(lastEndpointId, answered(410))
      },
    },
  ]
}

function tasksOfVault({ deps, pool }: Year): Task[] {
  const query = queriesIn(pool)
  const wishes = wishesIn(query, () => deps.clock.now())
  const till = tillIn(query)
  return [
    {
      name: 'wishes of the vault',
      async run() {
        const { id } = await deps.db
          .selectFrom('wish')
          .select('id')
          .orderBy('id', 'desc')
          .limit(1)
          .executeTakeFirstOrThrow()
        await wishes.open()
        await wishes.report(String(id), { waitsBecause: 'the daily limit' })
      },
    },
    {
      name: 'sales of the vault',
      async run() {
        const at = deps.clock.now()
        await till.aheadMs()
        await till.isOff('market.test')
        await till.costs(730, ['1', '2', '3'])
        const n = await till.lastReported()
        const report = {
          kind: 'report',
          market: 'market.test',
          reference: '1',
          report: { kind: 'sold' },
        } as const
        await till.report([{ n, part: 1, at, report }])
        await till.reportBalance('market.test', { freeMinor: 1n, settlingMinor: 1n, currency: 'USD' }, at)
        await till.reportUnlisted([], at)
      },
    },
  ]
}

/** The pool's own `query` passes a callback, which would not be observed. */
const queriesIn =
  (pool: ObservedPool['pool']): Query =>
  async (text, values = []) => {
    const client = await pool.connect()
    try {
      return await client.query(text, [...values])
    } finally {
      client.release()
    }
  }

/** The sweep with an operator's rule, which makes wishes for all items beyond those that a bot should keep. */
const tasksOfRules = ({ deps }: Year): Task[] => [
  {
    name: 'sweep of wishes, with a rule',
    async run() {
      await deps.db.deleteFrom('send_rule').execute()
      await sql`insert into send_rule (destination, keep) values ('76561199000000000', 0)`.execute(deps.db)
      await sweepWishes(deps)
      await deps.db.deleteFrom('send_rule').execute()
    },
  },
]

const taskOfLedgerCheck = ({ deps: { db, log }, pool }: Year): Task => ({
  name: 'check of the whole ledger',
  readsAll: true,
  async run() {
    const before = new Date(Date.now() - 2 * 86_400_000)
    await db.updateTable('ledger_check').set({ begun_at: before, complete_at: before }).execute()
    await checkLedger({ pool, log, metrics: createMetrics() })
    const { differences, complete_at: completeAt } = await db
      .selectFrom('ledger_check')
      .select(['differences', 'complete_at'])
      .executeTakeFirstOrThrow()
    if (completeAt === null || completeAt <= before) throw new Error('the whole ledger was not checked')
    if (differences > 0) throw new Error(`the ledger does not agree: ${differences} differences`)
  },
})
