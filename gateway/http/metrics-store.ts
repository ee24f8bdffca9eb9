/** Gauges that are read from the database on demand: the same in every process, and over restarts. */
import { type RawBuilder, sql } from 'kysely'
import { Gauge, type Registry } from 'prom-client'
import type { Db } from '../db/client.ts'

type Reading = {
  name: string
  help: string
  labels: readonly string[]
  /** One row a value: the labels as text, and `value`. Answered by an index, however large the table. */
  query: RawBuilder<Record<string, unknown>>
}

const READINGS: readonly Reading[] = [
  {
    name: 'tradetill_deposits_open',
    help: 'Deposits that have not ended',
    labels: ['status'],
    query: sql`select status, count(*) as value from deposit where status in ('created', 'pending') group by status`,
  },
  {
    name: 'tradetill_trades_open',
    help: 'Trades whose offer is, or may be, open on Steam',
    labels: ['state'],
    query: sql`select state, count(*) as value from trade
      where state in ('intended', 'sending', 'unknown', 'active') group by state`,
  },
  {
    name: 'tradetill_trades_overdue',
    help: 'Trades that were due more than a minute ago',
    labels: [],
    query: sql`select count(*) as value from trade where due_at < (select till_now()) - interval '1 minute'`,
  },
  {
    name: 'tradetill_ledger_balance',
    help: 'Balances by account and currency, minor units',
    labels: ['account', 'currency'],
    query: sql`select kind as account, currency, sum(balance) as value from account group by kind, currency`,
  },
  {
    name: 'tradetill_events_unpublished',
    help: 'Events that have no sequence yet',
    labels: [],
    query: sql`select count(*) as value from event where sequence is null`,
  },
  {
    name: 'tradetill_webhooks_due',
    help: 'Deliveries that wait for their next attempt',
    labels: [],
    query: sql`select count(*) as value from webhook_delivery where state = 'due'`,
  },
  {
    name: 'tradetill_webhooks_oldest_due_seconds',
    help: 'Age of the most overdue delivery, in seconds',
    labels: [],
    query: sql`select coalesce(greatest(0, extract(epoch from till_now() - min(due_at))), 0) as value
      from webhook_delivery where state = 'due'`,
  },
  {
    name: 'tradetill_webhook_endpoints',
    help: 'Webhook endpoints of all stores',
    labels: ['state'],
    query: sql`select state, count(*) as value from webhook_endpoint group by state`,
  },
  {
    name: 'tradetill_queue_jobs',
    help: 'Jobs by queue and state, as last counted by the queue',
    labels: ['queue', 'state'],
    query: sql`select name as queue, state, value from pgboss.queue,
      lateral (values ('waiting', queued_count), ('running', active_count)) counted (state, value)`,
  },
]

export function readStorageMetrics(registry: Registry, db: Db): void {
  for (const { name, help, labels, query } of READINGS) {
    new Gauge({
      name,
      help,
      labelNames: [...labels],
      registers: [registry],
      async collect() {
        const { rows } = await query.execute(db)
        this.reset()
        for (const row of rows) {
          this.set(Object.fromEntries(labels.map((label) => [label, String(row[label])])), Number(row.value))
        }
      },
    })
  }
}
