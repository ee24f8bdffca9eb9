/** What the operator's monitoring reads, in the form of Prometheus. */
import { Gauge, Registry } from 'prom-client'

export type Metrics = {
  registry: Registry
  /** Differences that the last check of the ledger found; NaN until it has run. */
  ledgerDifferences: Gauge
  /** 1 while a capability of Steam (`offers`, `inventories`) is out of reach for every bot. */
  outage: Gauge<'capability'>
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
  return { registry, ledgerDifferences, outage }
}
