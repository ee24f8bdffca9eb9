/**
 * The repeated work of a gateway, such as finishing the work of lost jobs, ending what is overdue, and deleting old
 * data.
 */
import type pg from 'pg'
import { alertSender, sendAlerts } from './alerts/service.ts'
import type { CallCounts } from './bots/call-counts.ts'
import { saveCalls } from './bots/call-store.ts'
import type { FleetLimits } from './bots/fleet.ts'
import { createBotGauges, mendFutureTimes, surveyBots } from './bots/jobs.ts'
import { createTokenWatch } from './bots/token-watch.ts'
import { watchClock } from './clock/steam-watch.ts'
import type { Config } from './config.ts'
import type { Db } from './db/client.ts'
import { createDepartureGauges, surveyDepartures } from './departures/jobs.ts'
import { createWaits } from './departures/vault-report-waits.ts'
import { bookVaultLog } from './departures/vault-reports.ts'
import { sweepWishes } from './departures/wish.ts'
import { sweepLinks } from './deposits/jobs.ts'
import { createDriftGauges, surveyDrift, sweepDrift, sweepFarLooks } from './drift/jobs.ts'
import type { DriftStore } from './drift/watch.ts'
import type { EpochWatch } from './epochs/service.ts'
import { type PublisherDeps, publishEvents } from './events/service.ts'
import { sweepInventories, sweepQuotes } from './inventory/jobs.ts'
import type { TillClock } from './kit/clock.ts'
import { HOUR_MS, MINUTE_MS } from './kit/duration.ts'
import { systemIds } from './kit/ids.ts'
import type { Log } from './kit/log.ts'
import type { SecretBox } from './kit/secret-box.ts'
import { checkLedger } from './ledger/jobs.ts'
import type { Metrics } from './metrics.ts'
import { watchOutages } from './outages/service.ts'
import type { PricingRules } from './pricing/price.ts'
import { createPriceGauges, surveyPrices } from './pricing/survey.ts'
import { sweepOldData } from './retention/jobs.ts'
import type { Keep } from './retention/settings.ts'
import { sweepIdempotency } from './store-api/idempotency.ts'
import type { TradeDeps } from './trades/deps.ts'
import { sweepDeposits } from './trades/expiry.ts'
import { reportOverdue, sweepFarTrades, sweepTrades } from './trades/jobs.ts'
import { sweepHistories } from './trades/protection.ts'
import { saveVitals } from './vitals/store.ts'
import { sweepDisabledEndpoints, sweepFarDeliveries } from './webhooks/jobs.ts'

/** How often to look for due work, because its job may have been lost. */
const SWEEP_MS = 10_000
const EPOCH_WATCH_MS = 2_000
const OUTAGE_WATCH_MS = 5_000
const HALF_MINUTE_MS = 30_000
const TEN_MINUTES_MS = 600_000

export type SweepDeps = {
  trades: TradeDeps & { clock: TillClock; drift: DriftStore }
  box: SecretBox
  keep: Keep
  events: PublisherDeps
  pool: Pick<pg.Pool, 'connect'>
  rules: PricingRules
  fleet: FleetLimits
  metrics: Pick<Metrics, 'registry' | 'ledgerDifferences' | 'ledgerChecked' | 'outage'>
}

/** `atOnce`: false delays the first run by `everyMs`. */
export type Sweep = { name: string; everyMs: number; atOnce?: boolean; work(): Promise<void> }

export const epochSweep = (epochs: EpochWatch): Sweep => ({
  name: 'watch of the epoch',
  everyMs: EPOCH_WATCH_MS,
  work: () => epochs.check(),
})

type CountDeps = { calls: CallCounts; metrics: Pick<Metrics, 'vitals'> }

/** Repeated work of every process: storing its counts in the database. */
export const countSweeps = (db: Db, { calls, metrics: { vitals } }: CountDeps): Sweep[] => [
  {
    name: 'count of calls to Steam',
    everyMs: 2 * SWEEP_MS,
    atOnce: false,
    work: () => saveCalls(db, calls.take()),
  },
  {
    name: 'count of page loads',
    everyMs: MINUTE_MS,
    atOnce: false,
    work: () => saveVitals(db, vitals.take()),
  },
]

type ClockDeps = { clock: Pick<TillClock, 'machineNow'>; log: Log; metrics: Pick<Metrics, 'clockAhead'> }

/** Repeated work of every process in live mode: each machine has a clock of its own. */
export const clockSweeps = (mode: Config['mode'], { clock, log, metrics }: ClockDeps): Sweep[] =>
  mode === 'sandbox'
    ? []
    : [
        {
          name: 'watch of the clock',
          everyMs: TEN_MINUTES_MS,
          atOnce: false,
          work: () => watchClock({ clock, log, gauge: metrics.clockAhead }),
        },
      ]

/** Repeated work of every process, whatever its roles. */
export const processSweeps = (
  epochs: EpochWatch,
  db: Db,
  deps: CountDeps & ClockDeps & Pick<Config, 'mode'>,
): Sweep[] => [epochSweep(epochs), ...countSweeps(db, deps), ...clockSweeps(deps.mode, deps)]

/** Sends alerts to the operator's webhook, if there is one. */
export function alertSweeps(
  { alerts, console: consoleConfig, mode }: Pick<Config, 'alerts' | 'console' | 'mode'>,
  common: { db: Db; clock: TillClock; log: Log },
): Sweep[] {
  if (alerts === null) return []
  const send = alertSender(mode)
  const consoleUrl = consoleConfig?.url.origin ?? null
  const deps = { ...common, alerts, send, consoleUrl, uuid: systemIds.uuid, random: Math.random }
  return [{ name: 'alerts to the operator', everyMs: HALF_MINUTE_MS, work: () => sendAlerts(deps) }]
}

export function sweepsOf({ trades, box, keep, rules, fleet, events, pool, metrics }: SweepDeps): Sweep[] {
  const { db, clock, log } = trades
  const { registry } = metrics
  const gauges = {
    ...createBotGauges(registry),
    ...createDepartureGauges(registry),
    ...createDriftGauges(registry),
  }
  const prices = { db, clock, rules, gauges: createPriceGauges(registry) }
  const common = { db, clock, log, box, keep }
  const watchTokens = createTokenWatch(common)
  const waits = createWaits()
  return [
    { name: 'sweep of trades', everyMs: SWEEP_MS, work: () => sweepTrades(trades) },
    { name: 'sweep of histories', everyMs: MINUTE_MS, work: () => sweepHistories(trades) },
    {
      name: 'survey of bots',
      everyMs: MINUTE_MS,
      work: () => surveyBots({ ...common, limits: fleet, gauges, watchTokens }),
    },
    { name: 'survey of departures', everyMs: MINUTE_MS, work: () => surveyDepartures({ db, gauges }) },
    { name: 'sweep of wishes', everyMs: MINUTE_MS, work: () => sweepWishes(common) },
    { name: 'sweep of sales', everyMs: SWEEP_MS, work: () => bookVaultLog(common, waits) },
    { name: 'sweep of drift', everyMs: SWEEP_MS, work: () => sweepDrift(trades) },
    { name: 'survey of drift', everyMs: MINUTE_MS, work: () => surveyDrift({ ...common, gauges }) },
    {
      name: 'survey of prices',
      everyMs: TEN_MINUTES_MS,
      work: () => surveyPrices(prices),
    },
    { name: 'watch for outages', everyMs: OUTAGE_WATCH_MS, work: () => watchOutages({ ...common, metrics }) },
    { name: 'check of the ledger', everyMs: MINUTE_MS, work: () => checkLedger({ pool, log, metrics }) },
    { name: 'sweep of deposits', everyMs: SWEEP_MS, work: () => sweepDeposits(trades) },
    { name: 'sweep of events', everyMs: SWEEP_MS, work: () => publishEvents(events) },
    { name: 'sweep of disabled endpoints', everyMs: SWEEP_MS, work: () => sweepDisabledEndpoints(common) },
    { name: 'sweep of far deliveries', everyMs: MINUTE_MS, work: () => sweepFarDeliveries(common) },
    { name: 'sweep of far trades', everyMs: MINUTE_MS, work: () => sweepFarTrades(common) },
    { name: 'sweep of far times of bots', everyMs: MINUTE_MS, work: () => mendFutureTimes(common) },
    { name: 'sweep of far looks', everyMs: MINUTE_MS, work: () => sweepFarLooks(common) },
    { name: 'sweep of idempotency keys', everyMs: HOUR_MS, work: () => sweepIdempotency(common) },
    { name: 'sweep of old data', everyMs: HOUR_MS, work: () => sweepOldData(common) },
    { name: 'sweep of trade links', everyMs: HOUR_MS, work: () => sweepLinks(common) },
    { name: 'sweep of quotes', everyMs: MINUTE_MS, work: () => sweepQuotes(common) },
    { name: 'sweep of inventories', everyMs: TEN_MINUTES_MS, work: () => sweepInventories(common) },
    {
      name: 'report of overdue trades',
      everyMs: MINUTE_MS,
      atOnce: false,
      work: () => reportOverdue(trades),
    },
  ]
}
