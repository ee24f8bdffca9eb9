/** The operator's start page: today's figures and everything that needs a person. Each query uses an index. */
import { sql } from 'kysely'
import type { Currency } from '../../contract/money.ts'
import type { DepositStatus } from '../../contract/statuses.ts'
import { type Needs, readNeeds } from '../alerts/needs-store.ts'
import type { Db } from '../db/client.ts'
import { readVitals } from '../vitals/store.ts'
import { type Vital, vitalsOf } from '../vitals/vitals.ts'

const HOURS = 24
const VITAL_DAYS = 7

export type Overview = {
  /** One entry per hour, oldest first. */
  hours: { at: Date; opened: number; succeeded: number }[]
  /** Deposits of the last 24 hours by status. */
  statuses: { status: DepositStatus; count: number }[]
  credited: { currency: Currency; amountMinor: bigint; deposits: number }[]
  funnel: Funnel
  needs: Needs
  /** Page timings of the last 7 days. */
  vitals: Vital[]
}

/** How far the deposits of the last 24 hours came. */
export type Funnel = { opened: number; linked: number; priced: number; offered: number; paid: number }

/** Reads the overview along the index of `created_at`, which covers all stores. */
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

/**
 * Reads two index ranges instead of looking up each deposit, because the numbers of a day's deposits are close
 * together.
 */
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
