/** The operator's first page: today, the money, and everything that needs a person. Each query uses an index. */
import { sql } from 'kysely'
import type { Currency } from '../../contract/money.ts'
import type { DepositStatus } from '../../contract/statuses.ts'
import { type Needs, readNeeds } from '../alerts/needs-store.ts'
import { callsByHour, type HourOfCalls } from '../bots/call-store.ts'
import type { Db } from '../db/client.ts'
import type { AccountKind } from '../db/schema.ts'
import type { OutageTable } from '../db/time-tables.ts'
import { readVitals } from '../vitals/store.ts'
import { type Vital, vitalsOf } from '../vitals/vitals.ts'

const HOURS = 24
const VITAL_DAYS = 7

export type Overview = {
  /** Hour by hour, the oldest first. */
  hours: { at: Date; opened: number; succeeded: number }[]
  /** Of the last 24 hours. */
  statuses: { status: DepositStatus; count: number }[]
  credited: { currency: Currency; amountMinor: bigint; deposits: number }[]
  funnel: Funnel
  needs: Needs
  /** Of the last 7 days. */
  vitals: Vital[]
}

/** How far the deposits of the last 24 hours came. */
export type Funnel = { opened: number; linked: number; priced: number; offered: number; paid: number }

/** `created_at` has an index over all stores. */
export async function readOverview(db: Db, now: Date): Promise<Overview> {
  const since = new Date(now.getTime() - HOURS * 3_600_000)
  const { rows: hours } = await sql<Overview['hours'][number]>`
    select hour as at, count(deposit.id)::int as opened, count(*) filter (where status = 'succeeded')::int as succeeded
    from generate_series(date_trunc('hour', ${since}::timestamptz) + interval '1 hour',
      date_trunc('hour', ${now}::timestamptz), interval '1 hour') hour
    left join deposit on created_at >= greatest(hour, ${since}) and created_at < hour + interval '1 hour'
    group by hour order by hour`.execute(db)
  const { rows: statuses } = await sql<Overview['statuses'][number]>`
    select status, count(*)::int as count from deposit where created_at >= ${since} group by status
    order by 2 desc`.execute(db)
  const { rows: credited } = await sql<Overview['credited'][number]>`
    select currency, sum(credited_amount)::bigint as "amountMinor", count(*)::int as deposits from deposit
    where created_at >= ${since} and credited_amount is not null group by currency order by currency`.execute(
    db,
  )
  const vitals = vitalsOf(await readVitals(db, VITAL_DAYS))
  return {
    hours,
    statuses,
    credited,
    funnel: await readFunnel(db, since),
    needs: await readNeeds(db),
    vitals,
  }
}

/** The numbers of a day's deposits are close together: two ranges of indexes, and no lookup for each deposit. */
async function readFunnel(db: Db, since: Date): Promise<Funnel> {
  const { rows } = await sql<Funnel>`
    with recent as materialized (select id, user_steam_id, status from deposit where created_at >= ${since}),
    range as materialized (select min(id) as least, max(id) as most from recent)
    select count(*)::int as opened, count(user_steam_id)::int as linked, count(priced.deposit_id)::int as priced,
      count(offered.deposit_id)::int as offered, count(*) filter (where status = 'succeeded')::int as paid
    from recent
    left join (select distinct deposit_id from quote
      where deposit_id between (select least from range) and (select most from range)) priced
      on priced.deposit_id = recent.id
    left join (select distinct deposit_id from trade where steam_offer_id is not null
      and deposit_id between (select least from range) and (select most from range)) offered
      on offered.deposit_id = recent.id`.execute(db)
  return rows[0] ?? { opened: 0, linked: 0, priced: 0, offered: 0, paid: 0 }
}

export type Money = {
  balances: {
    storeId: bigint
    store: string
    currency: Currency
    heldMinor: bigint
    availableMinor: bigint
  }[]
  /** The operator's side: the items' worth, the commissions, and the losses. */
  own: { kind: AccountKind; currency: Currency; amountMinor: bigint }[]
  atRisk: { storeId: bigint; store: string; usdMinor: bigint; limitUsdMinor: bigint }[]
  check: { completeAt: Date | null; differences: number; verifiedEntry: bigint } | null
}

const MOST_STORES = 500

export async function readMoney(db: Db): Promise<Money> {
  const { rows: balances } = await sql<Money['balances'][number]>`
    select store.id as "storeId", store.name as store, currency,
      coalesce(sum(balance) filter (where kind = 'held'), 0)::bigint as "heldMinor",
      coalesce(sum(balance) filter (where kind = 'available'), 0)::bigint as "availableMinor"
    from account join store on store.id = account.store_id
    group by store.id, currency order by store.id, currency limit ${MOST_STORES}`.execute(db)
  const { rows: own } = await sql<Money['own'][number]>`
    select kind, currency, sum(balance)::bigint as "amountMinor" from account where store_id is null
    group by kind, currency order by kind, currency`.execute(db)
  const { rows: atRisk } = await sql<Money['atRisk'][number]>`
    select store.id as "storeId", store.name as store, coalesce(usd_cents, 0)::bigint as "usdMinor",
      risk_limit_usd_cents as "limitUsdMinor"
    from store left join credit_at_risk risk on risk.store_id = store.id
    order by usd_cents desc nulls last, store.id limit ${MOST_STORES}`.execute(db)
  const { rows: checks } = await sql<NonNullable<Money['check']>>`
    select complete_at as "completeAt", differences, verified_entry as "verifiedEntry" from ledger_check`.execute(
    db,
  )
  return { balances, own, atRisk, check: checks[0] ?? null }
}

export type Weather = {
  outages: { kind: OutageTable['kind']; since: Date }[]
  bots: {
    botId: bigint
    bot: string
    online: boolean
    offersFailingSince: Date | null
    inventoriesFailingSince: Date | null
  }[]
  hours: HourOfCalls[]
}

export async function readWeather(db: Db): Promise<Weather> {
  const outages = await db.selectFrom('outage').select(['kind', 'since']).orderBy('since').execute()
  const bots = await db
    .selectFrom('bot')
    .select(['id as botId', 'name as bot', 'online'])
    .select(['offers_failing_since as offersFailingSince'])
    .select(['inventories_failing_since as inventoriesFailingSince'])
    .where('state', 'in', ['active', 'paused', 'dead'])
    .orderBy('id')
    .limit(1_000)
    .execute()
  return { outages, bots, hours: await callsByHour(db) }
}

/** A value that changes whenever anything on the page changes. */
export async function readMark(db: Db): Promise<string> {
  const { rows } = await sql<{ mark: string }>`
    select concat_ws('.', (select max(id) from deposit), (select sum(last_sequence) from store),
      (select max(id) from ledger_entry), (select max(id) from operator_act),
      (select max(id) from trade), (select count(*) from outage),
      (select string_agg(state || online::text, '' order by id) from bot),
      (select count(*) from proposal where state = 'open')) as mark`.execute(db)
  return rows[0]?.mark ?? ''
}
