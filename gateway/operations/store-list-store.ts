/** All stores, page by page, with their money. */
import { sql } from 'kysely'
import type { Game } from '../../contract/games.ts'
import type { Currency } from '../../contract/money.ts'
import type { Db } from '../db/client.ts'
import type { CreditMode, Liability } from '../db/trade-tables.ts'

export type StoreFilter = {
  isDisabled?: boolean | undefined
  /** The last store of the previous page. */
  after?: bigint | undefined
  limit: number
}

type Balance = { currency: Currency; held: string; available: string; reversed: string }

export type StoreRow = {
  storeId: bigint
  name: string
  createdAt: Date
  disabledAt: Date | null
  creditMode: CreditMode
  liability: Liability
  /** Null means the default of the settings. */
  commissionBps: number | null
  /** Null means all. */
  games: Game[] | null
  riskLimitUsdCents: bigint
  /** The used part of the limit. */
  atRiskUsdCents: bigint
  /** Read as text, because JSON from the database would round the amounts. */
  balances: Balance[]
}

/** Returns stores in the order of their numbers. */
export async function selectStores(db: Db, { isDisabled, after, limit }: StoreFilter): Promise<StoreRow[]> {
  const { rows } = await sql<StoreRow>`
    select store.id as "storeId", name, created_at as "createdAt", disabled_at as "disabledAt", credit_mode as "creditMode",
      liability, commission_bps as "commissionBps", games, risk_limit_usd_cents as "riskLimitUsdCents",
      coalesce((select usd_cents from credit_at_risk where store_id = store.id), 0) as "atRiskUsdCents",
      coalesce((select json_agg(json_build_object('currency', currency, 'held', held::text, 'available', available::text,
        'reversed', coalesce((select amount from reversed_total where store_id = store.id
          and reversed_total.currency = own.currency), 0)::text) order by currency)
        from (select currency, coalesce(sum(balance) filter (where kind = 'held'), 0) as held,
            coalesce(sum(balance) filter (where kind = 'available'), 0) as available
          from account where store_id = store.id group by currency) own), '[]') as balances
    from store
    where (${after ?? null}::bigint is null or store.id > ${after ?? null})
      and (${isDisabled ?? null}::boolean is null or (disabled_at is not null) = ${isDisabled ?? null})
    order by store.id limit ${limit}`.execute(db)
  return rows
}
