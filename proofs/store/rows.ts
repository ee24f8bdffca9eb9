/** Fills a database with any number of deposits, for measurements that must not depend on that number. */
import { sql } from 'kysely'
import type { Db } from '../../gateway/db/client.ts'

/** The number of deposits of each customer, at any size of the table. */
export const DEPOSITS_A_CUSTOMER = 20

/**
 * Writes `count` deposits, one a second up to now: `order 1`, `order 2` …, with the MD5 of the number as hash. Nine
 * of ten belong to store 1, the others to store 2. One in ten has a trade of bot 1 with two items. Three of ten
 * succeeded deposits were taken back. Both stores, bot 1 and rate 1 must exist.
 */
export async function fillDeposits(db: Db, count: number): Promise<void> {
  await sql`
    insert into deposit (hash, store_id, external_id, request_sha256, status, currency, back_to_store_url,
      credited_amount, reversed_amount, charged_amount, customer_reference, created_at, expires_at)
    select md5(n::text), case when n % 10 = 0 then 2 else 1 end, 'order ' || n, '', status, 'USD', 'https://store.test/',
      case when status = 'succeeded' then 1000 end, case when status = 'succeeded' and n % 10 in (1, 2, 3) then 1000 else 0 end,
      case when status = 'succeeded' and n % 10 in (1, 2, 3) then 1000 else 0 end,
      'customer ' || n % (${count}::int / ${DEPOSITS_A_CUSTOMER}::int), now() - (${count}::int - n) * interval '1 second', now()
    from (select n, case when n % 3 = 1 then 'succeeded' when n % 1000 = 2 then 'tradeDeclined' else 'paymentTimeout' end
      as status from generate_series(1, ${count}::int) n) made`.execute(db)
  await sql`
    insert into reversed_total (store_id, currency, amount)
    select store_id, currency, sum(reversed_amount) from deposit where reversed_amount > 0 group by store_id, currency`.execute(
    db,
  )
  await fillTrades(db)
}

async function fillTrades(db: Db): Promise<void> {
  await sql`
    insert into quote (id, deposit_id, game, currency, rate_id, created_at, expires_at)
    select md5('quote ' || id)::uuid, id, 'cs', 'USD', 1, now(), now() from deposit
    where external_id like 'order %' and id % 10 = 1`.execute(db)
  await sql`
    insert into trade (deposit_id, bot_id, quote_id, game, secret_code, partner_steam_id, state,
      currency, total, gross_total, steam_trade_id, delivered_at,
      credit_mode, liability, risk_limit_usd_cents)
    select deposit_id, 1, id, 'cs', id::text, '76561198000000001', 'final', 'USD', 1000, 1100, id::text, now(),
      'on_accept', 'operator', 0
    from quote where id = md5('quote ' || deposit_id)::uuid`.execute(db)
  await sql`
    insert into trade_item (trade_id, asset_id, app_id, context_id, name, market_hash_name, price, gross, live)
    select trade.id, trade.id || '-' || n, 730, '2', 'Item', 'Item', 500, 550, false
    from trade, generate_series(1, 2) n`.execute(db)
}
