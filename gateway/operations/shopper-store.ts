/** The history of one Steam account at this till. */
import { sql } from 'kysely'
import type { Currency } from '../../contract/money.ts'
import type { Db } from '../db/client.ts'
import { OPEN_TRADE_STATES } from '../db/trade-tables.ts'
import { MOST_OF_ACCOUNT } from './deposit-list-store.ts'

export type ShopperTrades = {
  /** Trades, including those whose offer could not be made. */
  trades: number
  open: number
  delivered: number
  /** Delivered trades that were reversed in whole or in part. */
  reversed: number
  /** Trades that ended as `declined`, `countered` or `timed_out`. */
  declined: number
  firstAt: Date | null
  lastAt: Date | null
  /** Number of stores that the account paid. */
  stores: number
}

export type ShopperMoney = {
  currency: Currency
  creditedMinor: bigint
  reversedMinor: bigint
  heldMinor: bigint
}

const tradesOf = (steamId: string, most: number) => sql`
  select * from trade where partner_steam_id = ${steamId} order by id desc limit ${most}`

/** Counts over the newest `most` trades of the account. */
export async function tradesOfShopper(
  db: Db,
  steamId: string,
  most = MOST_OF_ACCOUNT,
): Promise<ShopperTrades> {
  const { rows } = await sql<ShopperTrades>`
    select count(*)::int as trades,
      (count(*) filter (where state in (${sql.join(OPEN_TRADE_STATES)})))::int as open,
      (count(*) filter (where delivered_at is not null))::int as delivered,
      (count(*) filter (where own.reversed_amount > 0))::int as reversed,
      (count(*) filter (where state in ('declined', 'countered', 'timed_out')))::int as declined,
      min(own.created_at) as "firstAt", max(own.created_at) as "lastAt",
      (count(distinct (select store_id from deposit where deposit.id = own.deposit_id))
        filter (where delivered_at is not null))::int as stores
    from (${tradesOf(steamId, most)}) own`.execute(db)
  return (
    rows[0] ?? {
      trades: 0,
      open: 0,
      delivered: 0,
      reversed: 0,
      declined: 0,
      firstAt: null,
      lastAt: null,
      stores: 0,
    }
  )
}

/** Sums over the delivered trades among the newest `most` of the account. */
export async function moneyOfShopper(
  db: Db,
  steamId: string,
  most = MOST_OF_ACCOUNT,
): Promise<ShopperMoney[]> {
  const { rows } = await sql<ShopperMoney>`
    select currency, sum(total)::bigint as "creditedMinor", sum(reversed_amount)::bigint as "reversedMinor",
      sum(held_amount)::bigint as "heldMinor"
    from (${tradesOf(steamId, most)}) own where delivered_at is not null group by currency order by currency`.execute(
    db,
  )
  return rows
}
