import { sql } from 'kysely'
import type { Currency } from '../../contract/money.ts'
import type { Db } from '../db/client.ts'
import type { SaleState } from '../db/sale-tables.ts'

export type SaleFilter = { from: Date; to: Date; limit: number }

export type ListedSale = {
  saleId: bigint
  market: string
  reference: string
  state: SaleState
  byHand: boolean
  item: string
  depositId: bigint
  appId: number
  marketHashName: string
  soldAt: Date
  settlesAt: Date | null
  currency: Currency
  /** In minor units of `currency`, like the next two. */
  price: bigint
  /** The amount that the market pays; null until the market has reported it. */
  received: bigint | null
  /** The amount that the market paid although the sale was reversed. */
  refund: bigint
  /** The credit for the item, in minor units of `costCurrency`. */
  cost: bigint
  costCurrency: Currency
  /**
   * Proceeds less the cost of the item, in minor units of `currency`; the refund alone if the sale was reversed. Null
   * until it is known, and if the sale was refused or cancelled. The proceeds of a late sale are zero.
   */
  result: bigint | null
}

/**
 * Sales with their items, costs and results. If the currencies of cost and sale differ, the cost is converted to dollars
 * at the quote's rate, and from dollars at the latest rate before the sale. Without such a rate there is no result. After
 * a reversed sale the item is back, so only the refund counts. In a late sale the item was given, and the market owes
 * nothing for it.
 */
const salesWithResults = () => sql`
  sale join trade on trade.id = sale.trade_id
  join trade_item item on item.trade_id = sale.trade_id and item.asset_id = sale.asset_id
  join quote on quote.id = trade.quote_id join exchange_rate paid on paid.id = quote.rate_id
  left join lateral (
    select case when sale.currency = 'USD' then 1 else (select per_usd from exchange_rate
      where currency = sale.currency and as_of <= sale.sold_at order by as_of desc limit 1) end as per_usd
  ) at_sale on true
  cross join lateral (
    select case when trade.currency = sale.currency then item.price
      else round(item.price / paid.per_usd * at_sale.per_usd)::bigint end as cost
  ) converted
  cross join lateral (
    select case when sale.state = 'reversed' then sale.refund when sale.state = 'late' then -converted.cost
      when sale.state in ('settling', 'paid') then sale.received - converted.cost end as result
  ) outcome`

/** Returns what was sold in the period, oldest first. */
export async function selectSales(db: Db, { from, to, limit }: SaleFilter): Promise<ListedSale[]> {
  const { rows } = await sql<ListedSale>`
    select sale.id as "saleId", sale.market, sale.reference, sale.state, sale.by_hand as "byHand",
      sale.trade_id || '-' || sale.asset_id as item, trade.deposit_id as "depositId", sale.app_id as "appId",
      item.market_hash_name as "marketHashName", sale.sold_at as "soldAt", sale.settles_at as "settlesAt", sale.currency,
      sale.price, sale.received, sale.refund, item.price as cost, trade.currency as "costCurrency", outcome.result
    from ${salesWithResults()} where sale.sold_at >= ${from} and sale.sold_at < ${to}
    order by sale.sold_at, sale.id limit ${limit}`.execute(db)
  return rows
}

/** `item`: the market hash name. `sales`, `resultMinor`: the number of its sales in this currency, and their result. */
export type LosingItem = { item: string; sales: number; currency: Currency; resultMinor: bigint }

/** Returns items whose sales in the period lost money, the greatest loss in dollars first. */
export async function selectLosingItems(
  db: Db,
  { appId, from, to, limit }: SaleFilter & { appId: number },
): Promise<LosingItem[]> {
  const { rows } = await sql<LosingItem>`
    select item.market_hash_name as item, count(*)::int as sales, sale.currency, sum(outcome.result)::bigint as "resultMinor"
    from ${salesWithResults()} where sale.sold_at >= ${from} and sale.sold_at < ${to} and sale.app_id = ${appId}
      and outcome.result is not null
    group by item.market_hash_name, sale.currency having sum(outcome.result) < 0
    order by sum(outcome.result / at_sale.per_usd), item.market_hash_name, sale.currency limit ${limit}`.execute(
    db,
  )
  return rows
}

export type MarketBooks = {
  market: string
  currency: Currency
  /** The balances in the books, in minor units. */
  settling: bigint
  free: bigint
  fees: bigint
  /** How many sales reported by the vault have money in each of the two balances. */
  settlingSales: number
  freeSales: number
  /** The balances that the market reported last; null if it never reported any. */
  reportedSettling: bigint | null
  reportedFree: bigint | null
  /** When the market reported them. */
  saidAt: Date | null
}

export async function selectMarketBooks(db: Db): Promise<MarketBooks[]> {
  const { rows } = await sql<MarketBooks>`
    select market, currency, coalesce(books.settling, 0) as settling, coalesce(books.free, 0) as free, coalesce(fees, 0) as fees,
      coalesce(settling_sales, 0) as "settlingSales", coalesce(free_sales, 0) as "freeSales",
      reported.settling as "reportedSettling", reported.free as "reportedFree", reported.said_at as "saidAt"
    from (
      select market, currency, -sum(balance) filter (where kind = 'settling') as settling,
        -sum(balance) filter (where kind = 'free') as free, -sum(balance) filter (where kind = 'fees') as fees
      from market_account group by market, currency
    ) books full join (
      select market, currency, settling, free, said_at from market_balance
    ) reported using (market, currency) left join (
      select market, currency, count(*) filter (where state = 'settling')::int as settling_sales,
        count(*) filter (where state = 'paid' or (state = 'reversed' and refund > 0))::int as free_sales
      from sale where not by_hand group by market, currency
    ) sold using (market, currency) order by market, currency`.execute(db)
  return rows.map(({ settling, free, fees, ...row }) => ({
    ...row,
    settling: BigInt(settling),
    free: BigInt(free),
    fees: BigInt(fees),
  }))
}
