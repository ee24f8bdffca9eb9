/** What the operator's monitoring reads, in the form of Prometheus. */
import { Gauge, Histogram, Registry } from 'prom-client'

export type Metrics = {
  registry: Registry
  /** Differences that the last check of the ledger found; NaN until it has run. */
  ledgerDifferences: Gauge
  /** 1 while a capability of Steam (`offers`, `inventories`) is out of reach for every bot. */
  outage: Gauge<'capability'>
  /** How quick the page was for shoppers, in seconds, by `metric` (LCP, FCP, INP, TTFB) and screen. */
  pageSeconds: Histogram<'metric' | 'screen'>
  /** How much of the page moved by itself (CLS), by screen. */
  pageShift: Histogram<'screen'>
}

export function createMetrics(): Metrics {
  const registry = new Registry()
  const registers = [registry]
  const ledgerDifferences = new Gauge({
    name: 'tradetill_ledger_differences',
    help: 'Differences that the last check of the ledger found',
    registers,
  })
  ledgerDifferences.set(Number.NaN)
  const outage = new Gauge({
    name: 'tradetill_outage',
    help: '1 while a capability of Steam is out of reach for every bot',
    labelNames: ['capability'],
    registers,
  })
  const pageSeconds = new Histogram({
    name: 'tradetill_page_seconds',
    help: 'How quick the page was for shoppers',
    labelNames: ['metric', 'screen'],
    buckets: [0.05, 0.1, 0.2, 0.5, 1, 2.5, 4, 10],
    registers,
  })
  const pageShift = new Histogram({
    name: 'tradetill_page_layout_shift',
    help: 'How much of the page moved by itself',
    labelNames: ['screen'],
    buckets: [0.001, 0.01, 0.05, 0.1, 0.25],
    registers,
  })
  return { registry, ledgerDifferences, outage, pageSeconds, pageShift }
}
