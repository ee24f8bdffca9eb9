/** The operator's start page: the figures of the last 24 hours, page timings, and what needs a person. */
import { sql } from 'kysely'
import type { Currency } from '../../contract/money.ts'
import type { DepositStatus } from '../../contract/statuses.ts'
import { type Needs, readNeeds } from '../alerts/needs-store.ts'
import type { Db } from '../db/client.ts'
import { HOUR_MS } from '../kit/duration.ts'
import { readVitals } from '../vitals/store.ts'
import { type Vital, vitalsOf } from '../vitals/vitals.ts'

const HOURS = 24
const VITAL_DAYS = 7

export type Overview = {
  /** The current hour and the 23 before it, oldest first. `succeeded`: how many of the `opened` deposits succeeded. */
  hours: { at: Date; opened: number; succeeded: number }[]
  /** Deposits of the last 24 hours by status. */
  statuses: { status: DepositStatus; count: number }[]
  /** Credits of these deposits by currency. */
  credited: { currency: Currency; amountMinor: bigint; deposits: number }[]
  funnel: Funnel
  needs: Needs
  /** Page timings of the last 7 days. */
  vitals: Vital[]
}

/**
 * How many deposits of the last 24 hours reached each step. `linked`: with a trade link. `priced`: with a quote.
 * `offered`: with an offer on Steam. `paid`: succeeded.
 */
export type Funnel = { opened: number; linked: number; priced: number; offered: number; paid: number }

/** Finds the deposits by the index of `created_at`, which covers all stores. */
export async function readOverview(db: Db, now: Date): Promise<Overview> {
  const since = new Date(now.getTime() - HOURS * HOUR_MS)
  const groups = await readGroups(db, since)
  return {
    ...figuresOf(groups, now),
    funnel: await readFunnel(db, since),
    needs: await readNeeds(db),
    vitals: vitalsOf(await readVitals(db, VITAL_DAYS)),
  }
}

/** The number of deposits of one hour, status and currency. `credits`: how many of them were credited. */
type Group = {
  hour: Date
  status: DepositStatus
  currency: Currency
  deposits: number
  credits: number
  creditedMinor: bigint
}

async function readGroups(db: Db, since: Date): Promise<Group[]> {
  const { rows } = await sql<Group>`
    select date_trunc('hour', created_at, 'UTC') as hour, status, currency, count(*)::int as deposits,
      count(credited_amount)::int as credits, coalesce(sum(credited_amount), 0)::bigint as "creditedMinor"
    from deposit where created_at >= ${since} group by 1, 2, 3`.execute(db)
  return rows
}

function figuresOf(groups: readonly Group[], now: Date): Pick<Overview, 'hours' | 'statuses' | 'credited'> {
  const thisHour = Math.floor(now.getTime() / HOUR_MS) * HOUR_MS
  const hours = Array.from({ length: HOURS }, (_, index) => {
    const at = new Date(thisHour - (HOURS - 1 - index) * HOUR_MS)
    const ofHour = groups.filter(({ hour }) => hour.getTime() === at.getTime())
    const succeeded = ofHour.filter(({ status }) => status === 'succeeded')
    return { at, opened: countOf(ofHour), succeeded: countOf(succeeded) }
  })
  const statuses = [...Map.groupBy(groups, ({ status }) => status)]
    .map(([status, ofStatus]) => ({ status, count: countOf(ofStatus) }))
    .sort((a, b) => b.count - a.count)
  const credited = [...Map.groupBy(groups, ({ currency }) => currency)]
    .map(([currency, ofCurrency]) => ({
      currency,
      amountMinor: ofCurrency.reduce((sum, { creditedMinor }) => sum + creditedMinor, 0n),
      deposits: ofCurrency.reduce((sum, { credits }) => sum + credits, 0),
    }))
    .filter(({ deposits }) => deposits > 0)
    .sort((a, b) => a.currency.localeCompare(b.currency))
  return { hours, statuses, credited }
}

const countOf = (groups: readonly Group[]): number => groups.reduce((sum, { deposits }) => sum + deposits, 0)

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
