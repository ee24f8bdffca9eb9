/**
 * The till's database, used with the vault's role: writes reports of sales and balances, and reads the facts that the
 * role may read.
 */
import { z } from 'zod'
import type { Query } from '../till-database.ts'
import type { Till } from './till.ts'

/** The most reports that one statement writes. */
const MOST_AT_ONCE = 500

const digits = z.string().regex(/^\d{1,19}$/)
const lastSchema = z.object({ n: digits })
const costSchema = z.object({ asset_id: z.string(), usd_cents: digits })
const clockSchema = z.object({ ahead_s: z.int() })

export function tillIn(query: Query): Till & {
  /** How far the clock of a sandbox is ahead of the machine's, in milliseconds. */
  aheadMs(): Promise<number>
} {
  return {
    async lastReported() {
      const { rows } = await query('select coalesce(max(n), 0)::text as n from vault_told')
      const [last] = z.array(lastSchema).parse(rows)
      return Number(last?.n ?? 0)
    },
    async report(reports) {
      for (let start = 0; start < reports.length; start += MOST_AT_ONCE) {
        const batch = reports.slice(start, start + MOST_AT_ONCE)
        const written = batch.map(({ report }) =>
          JSON.stringify(report, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
        )
        await query(
          `insert into vault_told (n, part, at, market, reference, told)
           select * from unnest($1::bigint[], $2::int[], $3::timestamptz[], $4::text[], $5::text[], $6::jsonb[])
           on conflict do nothing`,
          [
            batch.map(({ n }) => n),
            batch.map(({ part }) => part),
            batch.map(({ at }) => at),
            batch.map(({ report }) => report.market),
            batch.map(({ report }) => report.reference),
            written,
          ],
        )
      }
    },
    async costs(appId, assetIds) {
      const { rows } = await query(
        'select asset_id, usd_cents::text from item_cost where app_id = $1 and asset_id = any($2)',
        [appId, assetIds],
      )
      const costs = z.array(costSchema).parse(rows)
      return new Map(costs.map(({ asset_id, usd_cents }) => [asset_id, BigInt(usd_cents)]))
    },
    async isOff(market) {
      const { rows } = await query('select from market_off where market = $1', [market])
      return rows.length > 0
    },
    async reportBalance(market, { freeMinor, settlingMinor, currency }, at) {
      await query(
        `insert into market_balance (market, currency, settling, free, said_at) values ($1, $2, $3, $4, $5)
         on conflict (market, currency) do update set settling = excluded.settling, free = excluded.free,
           said_at = excluded.said_at`,
        [market, currency, settlingMinor, freeMinor, at],
      )
    },
    reportUnlisted: (...report) => writeUnlisted(query, ...report),
    async aheadMs() {
      // Reads the table, because till_now() is ahead only on connections that are marked as a sandbox's.
      const { rows } = await query('select ahead_s from till_clock')
      const [clock] = z.array(clockSchema).parse(rows)
      return (clock?.ahead_s ?? 0) * 1_000
    },
  }
}

async function writeUnlisted(query: Query, ...[rows, at]: Parameters<Till['reportUnlisted']>): Promise<void> {
  await query(
    `with earlier as (delete from vault_unlisted)
     insert into vault_unlisted (market, account, app_id, reason, items, detail, said_at)
     select row.*, $7 from unnest($1::text[], $2::text[], $3::int[], $4::text[], $5::int[], $6::text[]) as row`,
    [
      rows.map(({ market }) => market),
      rows.map(({ account }) => account),
      rows.map((row) => (row.reason === 'stopped' ? null : row.appId)),
      rows.map(({ reason }) => reason),
      rows.map((row) => (row.reason === 'stopped' ? null : row.items)),
      rows.map((row) => (row.reason === 'stopped' ? row.because : row.name)),
      at,
    ],
  )
}
