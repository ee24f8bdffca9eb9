/** Metrics for the operator's monitoring, in the format of Prometheus. */
import type pg from 'pg'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { DEPOSIT_EVENT_TYPES } from '../contract/event-types.ts'
import type { Observer } from './steam/turns.ts'
import { createVitals, type Vitals } from './vitals/vitals.ts'
import { ATTEMPT_OUTCOMES } from './webhooks/delivery.ts'

export type Metrics = {
  registry: Registry
  /**
   * Differences that the last check of the entire ledger found, and those in newer entries; NaN until the entire
   * ledger has been checked once, while another gateway checks it, and while checks fail.
   */
  ledgerDifferences: Gauge
  /** When the last check of the entire ledger ended, in seconds since 1970; NaN before the first has ended. */
  ledgerChecked: Gauge
  /** 1 while events, new deposits and offers wait, because the database was restored or lost its last commits. */
  stoppedByRestore: Gauge
  /** 1 while a capability of Steam (`offers`, `inventories`) is out of reach for every bot, or `maintenance` is on. */
  outage: Gauge<'capability'>
  /** How far the machine's clock is ahead of Steam's, in seconds; NaN before Steam has answered, and in a sandbox. */
  clockAhead: Gauge
  /** How quick the page was for shoppers, in seconds, by `metric` (LCP, FCP, INP, TTFB), screen and class of device. */
  pageSeconds: Histogram<'metric' | 'screen' | 'device'>
  /** How much of the page moved on its own (CLS). */
  pageShift: Histogram<'screen' | 'device'>
  /** Measurements of `pageSeconds` and `pageShift` for the console, until they are stored. */
  vitals: Vitals
  /** Published events, by type. Every transition of a deposit is an event. */
  events: Counter<'type'>
  webhookAttempts: Counter<'outcome'>
  /** Seconds from the cause of an event to the first attempt to deliver it. */
  webhookFirstAttempt: Histogram
  httpRequests: Histogram<'method' | 'route' | 'status'>
  /** Refused calls of shoppers and stores, by the code of the refusal. */
  refusals: Counter<'code'>
  /** Requests to Steam, and requests that our own limits kept from Steam. */
  steam: Observer
}

export function createMetrics(build: Record<string, string> = {}): Metrics {
  const registry = new Registry()
  const registers = [registry]
  new Gauge({
    name: 'tradetill_build_info',
    help: 'Always 1; its labels name the running version',
    labelNames: Object.keys(build),
    registers,
  }).set(build, 1)
  const ledgerDifferences = new Gauge({
    name: 'tradetill_ledger_differences',
    help: 'Differences that the last check of the entire ledger found, and those in newer entries; NaN before the first such check, while another gateway runs one, and after a failed check',
    registers,
  })
  ledgerDifferences.set(Number.NaN)
  const ledgerChecked = new Gauge({
    name: 'tradetill_ledger_checked_timestamp_seconds',
    help: 'When the last check of the entire ledger ended',
    registers,
  })
  ledgerChecked.set(Number.NaN)
  const events = new Counter({
    name: 'tradetill_events_total',
    help: 'Events of deposits that this process published',
    labelNames: ['type'],
    registers,
  })
  const clockAhead = new Gauge({
    name: 'tradetill_clock_ahead_seconds',
    help: 'How far the clock of this machine is ahead of the clock of Steam; NaN before Steam has answered, and in a sandbox',
    registers,
  })
  clockAhead.set(Number.NaN)
  const flow = flowMetrics(registers)
  // Prometheus sees no increase in the first value of a series. Without a zero, it would miss the first reversal, and
  // the first webhook that is given up.
  for (const type of DEPOSIT_EVENT_TYPES) events.inc({ type }, 0)
  for (const outcome of ATTEMPT_OUTCOMES) flow.webhookAttempts.inc({ outcome }, 0)
  return {
    registry,
    ledgerDifferences,
    ledgerChecked,
    stoppedByRestore: new Gauge({
      name: 'tradetill_restore_unfinished',
      help: '1 while no event is published, no deposit opened and no offer sent, because the database was restored or lost its last commits',
      registers,
    }),
    outage: new Gauge({
      name: 'tradetill_outage',
      help: '1 while a capability of Steam (offers, inventories) is out of reach for every bot, or while maintenance is on',
      labelNames: ['capability'],
      registers,
    }),
    clockAhead,
    events,
    ...pageMetrics(registers),
    ...flow,
    steam: steamMetrics(registers),
  }
}

/** Adds metrics of the process itself: its event loop, memory, files, and connections to the database. */
export function watchProcess(
  registry: Registry,
  pool: Pick<pg.Pool, 'totalCount' | 'idleCount' | 'waitingCount'>,
): void {
  collectDefaultMetrics({ register: registry })
  new Gauge({
    name: 'tradetill_database_connections',
    help: 'Connections of the pool that are busy or idle, and queries that are waiting for one',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      this.set({ state: 'busy' }, pool.totalCount - pool.idleCount)
      this.set({ state: 'idle' }, pool.idleCount)
      this.set({ state: 'waiting' }, pool.waitingCount)
    },
  })
}

/** The number of series is bounded, because the methods are those of steam/methods.ts. */
function steamMetrics(registers: Registry[]): Observer {
  const requests = new Histogram({
    name: 'tradetill_steam_request_seconds',
    help: 'Requests to Steam by method and outcome: answered, limited (429) or failed',
    labelNames: ['method', 'outcome'],
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
    registers,
  })
  const heldBack = new Counter({
    name: 'tradetill_steam_held_back_total',
    help: 'Requests that our own limits kept from Steam: out_of_budget, or paused after a refusal of Steam',
    labelNames: ['method', 'why'],
    registers,
  })
  return {
    request: (method, { outcome, seconds }) => requests.observe({ method, outcome }, seconds),
    heldBack: (method, why) => heldBack.inc({ method, why }),
  }
}

function pageMetrics(registers: Registry[]) {
  return {
    vitals: createVitals(),
    pageSeconds: new Histogram({
      name: 'tradetill_page_seconds',
      help: 'How quick the page was for shoppers',
      labelNames: ['metric', 'screen', 'device'],
      buckets: [0.05, 0.1, 0.2, 0.5, 1, 2.5, 4, 10],
      registers,
    }),
    pageShift: new Histogram({
      name: 'tradetill_page_layout_shift',
      help: 'How much of the page moved on its own',
      labelNames: ['screen', 'device'],
      buckets: [0.001, 0.01, 0.05, 0.1, 0.25],
      registers,
    }),
  }
}

function flowMetrics(registers: Registry[]) {
  return {
    webhookAttempts: new Counter({
      name: 'tradetill_webhook_attempts_total',
      help: 'Attempts to deliver webhooks by this process',
      labelNames: ['outcome'],
      registers,
    }),
    webhookFirstAttempt: new Histogram({
      name: 'tradetill_webhook_first_attempt_seconds',
      help: 'From the cause of an event to the first attempt to deliver it',
      buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
      registers,
    }),
    refusals: new Counter({
      name: 'tradetill_refusals_total',
      help: 'Calls that were refused by this process, by code',
      labelNames: ['code'],
      registers,
    }),
    httpRequests: new Histogram({
      name: 'tradetill_http_request_seconds',
      help: 'Calls by route; polls of waiting pages are not counted',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25],
      registers,
    }),
  }
}
