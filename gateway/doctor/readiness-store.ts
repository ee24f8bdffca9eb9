import { sql } from 'kysely'
import { GAMES } from '../../contract/games.ts'
import { CURRENCIES } from '../../contract/money.ts'
import type { Db } from '../db/client.ts'
import { AHEAD_MS, type PricingRules } from '../pricing/price.ts'
import { latestRates, PRICE_COUNTS } from '../pricing/store.ts'
import type { Coverage, NewestRate } from './readiness.ts'

/** Returns, for each game, how many names have a price that counts, and how many of them have a fresh one. */
export function readCoverage(db: Db, rules: PricingRules, now: Date): Promise<Coverage[]> {
  return Promise.all(
    GAMES.map(async (game) => {
      const since = new Date(now.getTime() - rules[game].freshMs)
      const until = new Date(now.getTime() + AHEAD_MS)
      const { rows } = await sql<{ all: number; fresh: number }>`
        select count(distinct market_hash_name)::int as all,
          count(distinct market_hash_name) filter (where as_of > ${since} and as_of <= ${until})::int as fresh
        from price where game = ${game} and ${PRICE_COUNTS}`.execute(db)
      return { game, all: rows[0]?.all ?? 0, fresh: rows[0]?.fresh ?? 0 }
    }),
  )
}

export function readNewestRates(db: Db, now: Date): Promise<NewestRate[]> {
  return Promise.all(
    CURRENCIES.map(async (currency) => {
      const [newest] = await latestRates(db, currency, now)
      return { currency, asOf: newest?.asOf ?? null }
    }),
  )
}

/** Returns the bots whose account acknowledged Steam's notice about trade protection. */
export async function acknowledgedBots(db: Db): Promise<Set<bigint>> {
  const rows = await db
    .selectFrom('bot')
    .select('id')
    .where('protection_acknowledged_at', 'is not', null)
    .execute()
  return new Set(rows.map(({ id }) => id))
}

export type ExaminedStore = {
  id: bigint
  name: string
  commissionBps: number | null
  disabledAt: Date | null
}

export const readStores = (db: Db): Promise<ExaminedStore[]> =>
  db
    .selectFrom('store')
    .select(['id', 'name', 'commission_bps as commissionBps', 'disabled_at as disabledAt'])
    .orderBy('id')
    .execute()
