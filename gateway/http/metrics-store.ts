/** Gauges read from the database on demand, so they are the same in every process and after restarts. */
import { type RawBuilder, sql } from 'kysely'
import { Gauge, type Registry } from 'prom-client'
import type { Db } from '../db/client.ts'
import { RATE_APPLIES } from '../db/rate-applies.ts'

type Reading = {
  name: string
  help: string
  labels: readonly string[]
  /** One row per value: the labels as text, and `value`. No query reads a whole table that grows with deposits. */
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
    help: 'Trades whose offer is still to be sent, or may be open on Steam',
    labels: ['state'],
    query: sql`select state, count(*) as value from trade
      where state in ('intended', 'sending', 'unknown', 'active') group by state`,
  },
  {
    name: 'tradetill_trades_overdue',
    help: 'Trades that have been due for more than a minute, and whose bot no sweep has woken',
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
    name: 'tradetill_store_at_risk_usd',
    help: 'A store’s credit at risk, in US dollars',
    labels: ['store'],
    query: sql`select store_id as store, usd_cents / 100.0 as value from credit_at_risk`,
  },
  {
    name: 'tradetill_store_risk_limit_usd',
    help: 'A store’s limit for its credit at risk, in US dollars; absent for a disabled store',
    labels: ['store'],
    query: sql`select id as store, risk_limit_usd_cents / 100.0 as value from store where disabled_at is null`,
  },
  {
    name: 'tradetill_items_protected',
    help: 'Worth of the items that Steam still protects, before commission, in minor units',
    labels: ['currency'],
    query: sql`select currency, sum(gross_total - case when reversed_amount = 0 then 0 else (
        select sum(gross) from trade_item where trade_id = trade.id and reversed_at is not null) end) as value
      from trade where state = 'held' group by currency`,
  },
  {
    name: 'tradetill_funnel_deposits',
    help: 'Deposits opened in the last hour, and how many of them reached each step: link, prices, offer (on Steam), paid',
    labels: ['step'],
    // Calls till_now() without a subselect. With one, the planner could not estimate how few deposits an hour has, and
    // would read all of them.
    query: sql`
      with recent as (select id, user_steam_id, status from deposit
        where created_at > till_now() - interval '1 hour')
      select step, value from (
        select count(*) as opened, count(*) filter (where user_steam_id is not null) as link,
          count(*) filter (where exists (select from quote where quote.deposit_id = recent.id)) as prices,
          count(*) filter (where exists (
            select from trade where trade.deposit_id = recent.id and steam_offer_id is not null)) as offer,
          count(*) filter (where status = 'succeeded') as paid from recent
      ) counted, lateral (values ('opened', opened), ('link', link), ('prices', prices), ('offer', offer), ('paid', paid))
        each (step, value)`,
  },
  {
    name: 'tradetill_price_feed_age_seconds',
    help: 'Seconds since a source last answered for a game, or for the rates; infinite if it fails and never did',
    labels: ['source', 'feed'],
    query: sql`select source, feed,
        greatest(0, coalesce(extract(epoch from (select till_now()) - good_at)::float8, 'infinity')) as value
      from price_feed where (good_at is not null or failures > 0) and removed_at is null`,
  },
  {
    name: 'tradetill_price_feed_failures',
    help: 'Consecutive failures of a source',
    labels: ['source', 'feed'],
    query: sql`select source, feed, failures as value from price_feed where removed_at is null`,
  },
  {
    name: 'tradetill_exchange_rate_age_seconds',
    help: 'Age of the newest exchange rate of a currency; absent if it is older than 30 days',
    labels: ['currency'],
    query: sql`select currency, extract(epoch from (select till_now()) - max(as_of)) as value from exchange_rate
      where as_of > (select till_now()) - interval '30 days' and ${RATE_APPLIES} group by currency`,
  },
  {
    name: 'tradetill_events_unpublished',
    help: 'Events that have no sequence yet',
    labels: [],
    query: sql`select count(*) as value from event where sequence is null`,
  },
  {
    name: 'tradetill_webhooks_due',
    help: 'Deliveries that are neither delivered nor given up',
    labels: [],
    query: sql`select count(*) as value from webhook_delivery where state = 'due'`,
  },
  {
    name: 'tradetill_webhooks_oldest_due_seconds',
    help: 'Seconds for which the most overdue delivery has been due',
    labels: [],
    query: sql`select coalesce(greatest(0, extract(epoch from till_now() - min(due_at))), 0) as value
      from webhook_delivery where state = 'due'`,
  },
  {
    name: 'tradetill_webhooks_unattended_seconds',
    help: 'The longest time, in seconds, for which an endpoint with a due delivery has got no attempt',
    labels: [],
    query: sql`
      select coalesce(greatest(0, extract(epoch from till_now() - min(greatest(due.since, newest.at)))), 0) as value
      from webhook_endpoint endpoint
      join lateral (select min(due_at) as since from webhook_delivery
        where endpoint_id = endpoint.id and state = 'due') due on due.since is not null
      left join lateral (select at from webhook_attempt
        where endpoint_id = endpoint.id order by id desc limit 1) newest on true`,
  },
  {
    name: 'tradetill_webhook_endpoints',
    help: 'Webhook endpoints of all stores',
    labels: ['state'],
    query: sql`select state, count(*) as value from webhook_endpoint where removed_at is null group by state`,
  },
  {
    name: 'tradetill_queue_jobs',
    help: 'Jobs by queue and state, as last counted by the queue',
    labels: ['queue', 'state'],
    query: sql`select name as queue, state, value from pgboss.queue,
      lateral (values ('waiting', queued_count), ('running', active_count)) counted (state, value)`,
  },
]

export function registerStorageMetrics(registry: Registry, db: Db): void {
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
