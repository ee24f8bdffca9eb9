import { sql } from 'kysely'
import { updateHeldItems } from '../bots/held-item-store.ts'
import { countChange, countItems, countItemsByGame } from '../bots/item-store.ts'
import type { Tx } from '../db/client.ts'

/** How many bots had a wrong number of items, and how many stores a wrong credit at risk. */
export type WrongCounts = { bots: number; stores: number }

/** The largest value of PostgreSQL's type `integer`. */
const NO_LIMIT = 2 ** 31 - 1

/**
 * Recounts every bot's items and every store's credit at risk. The lock on bots lets other transactions insert rows
 * that reference a bot. New credits wait until the transaction ends, because `countRisk` locks their sums.
 */
export async function countAgain(tx: Tx): Promise<WrongCounts> {
  const { rows: before } = await sql<{ id: bigint; items: number; counted_to: bigint }>`
    select id, items_held as items, items_counted_to as counted_to from bot order by id for no key update`.execute(
    tx,
  )
  await sql`update bot set items_held = 0, items_counted_to = 0`.execute(tx)
  await countItems(tx)
  await sql`update bot_games set items = '{}', counted_to = 0`.execute(tx)
  await countItemsByGame(tx, NO_LIMIT)
  await sql`delete from held_item`.execute(tx)
  await sql`delete from held_items_mark`.execute(tx)
  await updateHeldItems(tx, NO_LIMIT)
  const { rows: wrongBots } = await sql<{ id: bigint }>`
    select bot.id from bot
    join unnest(${before.map(({ id }) => String(id))}::bigint[], ${before.map(({ items }) => items)}::int[],
      ${before.map(({ counted_to }) => String(counted_to))}::bigint[]) as was (id, items, counted_to) using (id)
    where was.items <> (
      select coalesce(sum(${countChange}), 0) from custody_entry entry
      where entry.bot_id = bot.id and entry.id <= was.counted_to)`.execute(tx)
  const stores = await countRisk(tx)
  await askForCompleteCheck(tx)
  return { bots: wrongBots.length, stores }
}

/**
 * The stored differences include counts that are now right. Without a complete check, they would stay for up to a day.
 */
async function askForCompleteCheck(tx: Tx): Promise<void> {
  await tx.updateTable('ledger_check').set({ complete_at: null, begun_at: null }).execute()
}

/** Recomputes each store's credit at risk as `verify.sql` does. Resolves to how many stores had a wrong amount. */
async function countRisk(tx: Tx): Promise<number> {
  await sql`lock table credit_at_risk, lost_credit in share row exclusive mode`.execute(tx)
  await sql`
    with own as (
      select trade.id as trade_id, deposit.store_id, ceil(trade.at_risk_amount / rate.per_usd)::bigint as usd_cents,
        trade.at_risk_until as until
      from trade join deposit on deposit.id = trade.deposit_id join quote on quote.id = trade.quote_id
      join exchange_rate rate on rate.id = quote.rate_id
      where trade.at_risk_amount > 0 and trade.state <> 'held' and trade.at_risk_until is not null
    ),
    gone as (delete from lost_credit where not exists (select from own where own.trade_id = lost_credit.trade_id))
    insert into lost_credit (trade_id, store_id, usd_cents, until) select trade_id, store_id, usd_cents, until from own
    on conflict (trade_id) do update set usd_cents = excluded.usd_cents, until = excluded.until`.execute(tx)
  const { rows } = await sql`
    with own as (
      select deposit.store_id, sum(ceil(trade.at_risk_amount / rate.per_usd))::bigint as usd_cents
      from trade join deposit on deposit.id = trade.deposit_id join quote on quote.id = trade.quote_id
      join exchange_rate rate on rate.id = quote.rate_id
      where trade.at_risk_amount > 0 group by deposit.store_id
    )
    insert into credit_at_risk as kept (store_id, usd_cents)
    select store.id, coalesce(own.usd_cents, 0) from store left join own on own.store_id = store.id
    where coalesce(own.usd_cents, 0) <> coalesce((select usd_cents from credit_at_risk where store_id = store.id), 0)
    on conflict (store_id) do update set usd_cents = excluded.usd_cents
    returning store_id`.execute(tx)
  return rows.length
}
