/** The till's database with the role of the vault: the vault's reports of its sales, and the facts that it may read. */
import pg from 'pg'
import type { Queries } from '../wishes/store.ts'
import type { Till } from './till.ts'

const CONNECT_MS = 10_000
const QUERY_MS = 20_000
const MOST_AT_ONCE = 500

export type TillDatabase = Till & {
  /** How far the clock of a sandbox is ahead of the machine's. */
  aheadMs(): Promise<number>
}

export function openTill(url: string): TillDatabase & { close(): Promise<void> } {
  const pool = new pg.Pool({
    connectionString: url,
    max: 1,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: QUERY_MS,
    application_name: 'tradetill vault',
  })
  pool.on('error', () => {})
  return { ...tillIn(pool), close: () => pool.end() }
}

export function tillIn(pool: Queries): TillDatabase {
  return {
    async lastTold() {
      const { rows } = await pool.query('select coalesce(max(n), 0)::text as n from vault_told')
      return Number(rows[0]?.n ?? 0)
    },
    async tell(news) {
      for (let start = 0; start < news.length; start += MOST_AT_ONCE) {
        const part = news.slice(start, start + MOST_AT_ONCE)
        const written = part.map(({ told }) =>
          JSON.stringify(told, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
        )
        await pool.query(
          `insert into vault_told (n, part, at, market, reference, told)
           select * from unnest($1::bigint[], $2::int[], $3::timestamptz[], $4::text[], $5::text[], $6::jsonb[])
           on conflict do nothing`,
          [
            part.map(({ n }) => n),
            part.map((each) => each.part),
            part.map(({ at }) => at),
            part.map(({ told }) => told.market),
            part.map(({ told }) => told.reference),
            written,
          ],
        )
      }
    },
    async costs(appId, assetIds) {
      const { rows } = await pool.query<{ asset_id: string; usd_cents: string }>(
        'select asset_id, usd_cents::text from item_cost where app_id = $1 and asset_id = any($2)',
        [appId, assetIds],
      )
      return new Map(rows.map(({ asset_id, usd_cents }) => [asset_id, BigInt(usd_cents)]))
    },
    async isOff(market) {
      const { rows } = await pool.query('select from market_off where market = $1', [market])
      return rows.length > 0
    },
    async saysBalance(market, { freeMinor, settlingMinor, currency }, at) {
      await pool.query(
        `insert into market_balance (market, currency, settling, free, said_at) values ($1, $2, $3, $4, $5)
         on conflict (market, currency) do update set settling = excluded.settling, free = excluded.free,
           said_at = excluded.said_at`,
        [market, currency, settlingMinor, freeMinor, at],
      )
    },
    async aheadMs() {
      // till_now() is ahead only on connections that say that they belong to a sandbox.
      const { rows } = await pool.query<{ ahead_s: number }>('select ahead_s from till_clock')
      return (rows[0]?.ahead_s ?? 0) * 1_000
    },
  }
}
