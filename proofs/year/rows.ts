/**
 * Writes a year of a till's rows, in SQL, into the tables that grow with its deposits and sales. The rows look as if the
 * sweeps had run an hour ago, and the ledger is consistent.
 */
import { type RawBuilder, sql } from 'kysely'
import { inventedDeposit, withChange } from '../../gateway/conformance/invented.ts'
import type { Db } from '../../gateway/db/client.ts'
import { withFillConnection } from '../filling.ts'

/** `days`: the days over which the deposits are spread, 365 by default. */
export type Size = { deposits: number; stores: number; bots: number; days?: number }

/** How many of the newest deposits wait for their shopper, or for an answer to their offer. */
const WAITING = 200
/**
 * Not a multiple of the number of stores, so a shopper's deposits are at several stores, and have different outcomes.
 * The same holds for customers.
 */
const SHOPPERS = 199_999
const CUSTOMERS = 99_991

/** Fills the database at `url`. Resolves to its size in bytes. */
export function fillYear(url: string, size: Size): Promise<number> {
  return withFillConnection(url, (db) => fill(db, size))
}

async function fill(db: Db, size: Size): Promise<number> {
  // Switches off foreign keys, whose checks would double the time. The rows match each other by construction.
  await sql`set session_replication_role = replica`.execute(db)
  for (const statement of [
    ...storesAndBots(size),
    ...deposits(size),
    ...trades(),
    ...money(size),
    ...departures(),
    ...itemCounts(),
    ...events(),
  ]) {
    await statement.execute(db)
  }
  for (const statement of shortLived()) await statement.execute(db)
  await sql`drop table year_trade, year_departure`.execute(db)
  await sql`set session_replication_role = origin`.execute(db)
  await sql`vacuum analyze`.execute(db)
  const { rows } = await sql<{ bytes: string }>`
    select pg_database_size(current_database()) as bytes`.execute(db)
  return Number(rows[0]?.bytes ?? 0)
}

type Statements = RawBuilder<unknown>[]

const storesAndBots = ({ stores, bots }: Size): Statements => [
  sql`insert into store (name, origins, risk_limit_usd_cents)
    select 'Store ' || n, array['https://store.test'], 1000000000000 from generate_series(1, ${stores}::int) n`,
  sql`insert into webhook_endpoint (store_id, url, secret) select id, 'http://127.0.0.1:9/', '' from store`,
  sql`insert into bot (steam_id, name, avatar_url, profile_url, level, refresh_token, online, lease_epoch, lease_until)
    select '7656119700000' || lpad(n::text, 4, '0'), 'Bot ' || n, 'a', 'p', 10, '', true, 1, now() + interval '1 hour'
    from generate_series(1, ${bots}::int) n`,
  sql`insert into exchange_rate (currency, per_usd, source, as_of)
    select 'USD', 1, 'year', now() - n * interval '6 hours' from generate_series(0, 1460) n`,
]

/**
 * At least every fifth deposit belongs to store 1; the others are spread. Of ten that are not among the newest
 * (`WAITING`), four succeeded, one was declined, and five expired. `digit` decides this, independently of store and
 * shopper.
 */
const deposits = ({ deposits: count, stores, bots, days = 365 }: Size): Statements => [
  sql`
    insert into deposit (hash, store_id, external_id, request_sha256, status, currency, back_to_store_url,
      credited_amount, customer_reference, user_steam_id, user_token_sealed, user_name, created_at, expires_at)
    select md5(n::text), case when n % 5 = 0 then 1 else 1 + n / 5 % ${stores}::int end, 'order ' || n, '', status, 'USD',
      'https://store.test/', case when status = 'succeeded' then 1000 end, 'customer ' || n % ${CUSTOMERS}::int,
      '76561198' || lpad((n % ${SHOPPERS}::int)::text, 9, '0'), case when at > now() - case
        when status in ('succeeded', 'tradeDeclined') then interval '10 days 1 hour' else interval '26 hours' end then '\\x01'::bytea end,
      case when at > now() - interval '30 days 2 hours' then 'nova_hound' end, at, case
        when status = 'created' and n % 4 = 0 then now() - interval '1 minute'
        when status = 'created' then now() + interval '1 hour' else at + interval '1 hour' end
    from (select n, now() - (${count}::int - n) * make_interval(secs => ${(days * 86_400) / count}::float8) as at, case
        when n > ${count}::int - ${WAITING}::int then case when digit < 5 then 'pending' else 'created' end
        when digit < 4 then 'succeeded' when digit = 4 then 'tradeDeclined' else 'paymentTimeout' end as status
      from (select n, (n + n / 7) % 10 as digit from generate_series(1, ${count}::int) n) numbered) made`,
  sql`
    create table year_trade as
    select id as deposit_id, store_id, status, created_at, user_steam_id, 1 + (id / 10 % ${bots}::int)::bigint as bot_id,
      md5('quote ' || id)::uuid as quote_id, row_number() over (order by id) as trade_id, case
        when status = 'pending' then 'active' when status = 'tradeDeclined' then 'declined'
        when created_at > now() - interval '8 days' then 'held' else 'final' end as state
    from deposit where status in ('succeeded', 'tradeDeclined', 'pending')`,
]

const trades = (): Statements => [
  sql`insert into quote (id, deposit_id, steam_id, game, currency, rate_id, created_at, expires_at)
    select quote_id, deposit_id, user_steam_id, 'cs', 'USD', 1 + trade_id % 1461, created_at, created_at + interval '15 minutes'
    from year_trade`,
  sql`insert into quote_item (quote_id, asset_id, app_id, context_id, name, market_hash_name, price, gross)
    select quote_id, trade_id || '-' || n, 730, '2', 'AK-47 | Redline', 'AK-47 | Redline (Field-Tested)', 500, 550
    from year_trade, generate_series(1, 3) n`,
  sql`insert into quote_price (quote_id, market_hash_name, usd_micros, said)
    select quote_id, 'AK-47 | Redline (Field-Tested)', 5500000, '[{"source": "market", "usdMicros": "5500000"}]'
    from year_trade`,
  sql`
    insert into trade (id, deposit_id, bot_id, quote_id, game, secret_code, partner_steam_id, partner_token_sealed, state, reason,
      currency, total, gross_total, at_risk_amount, steam_offer_id, steam_trade_id, send_started_at, deadline, accepted_at,
      delivered_at, settles_at, look_at, credit_mode, liability, risk_limit_usd_cents, due_at, created_at, ended_at)
    overriding system value
    select trade_id, deposit_id, bot_id, quote_id, 'cs', 'c' || trade_id, user_steam_id,
      case when created_at > now() - interval '10 days 1 hour' then '\\x01'::bytea end, state,
      case when state = 'declined' then 'declined' end, 'USD', 1000, 1100, case when state = 'held' then 1000 else 0 end,
      'o' || trade_id, case when state in ('held', 'final') then 't' || trade_id end, created_at, created_at + interval '5 minutes',
      case when state in ('held', 'final') then created_at + interval '1 minute' end,
      case when state in ('held', 'final') then created_at + interval '1 minute' end,
      case when state in ('held', 'final') then created_at + interval '8 days' end,
      case when state = 'final' and created_at > now() - interval '9 days' then created_at + interval '9 days' end,
      case when state in ('held', 'final') then 'on_accept' end, case when state in ('held', 'final') then 'operator' end,
      case when state in ('held', 'final') then 1000000000000 end,
      case when state = 'active' and trade_id % 2 = 0 then now() - interval '1 second'
        when state = 'active' then now() + interval '5 minutes'
        when state = 'held' then created_at + interval '8 days' end,
      created_at, case when state in ('declined', 'final') then created_at + interval '8 days' end
    from year_trade`,
  sql`insert into trade_item (trade_id, asset_id, app_id, context_id, name, market_hash_name, price, gross, live, received_asset_id)
    select trade_id, trade_id || '-' || n, 730, '2', 'AK-47 | Redline', 'AK-47 | Redline (Field-Tested)', 500, 550,
      state = 'active', case when state in ('held', 'final') then 'r' || trade_id || '-' || n end
    from year_trade, generate_series(1, 2) n`,
  sql`insert into custody_entry (trade_id, asset_id, received_asset_id, bot_id, moved, created_at)
    select trade_id, trade_id || '-' || n, 'r' || trade_id || '-' || n, bot_id, 'in', created_at
    from year_trade, generate_series(1, 2) n where state in ('held', 'final') order by trade_id, n`,
]

/** The account to which the vault gives. */
export const STORAGE = '76561199000000000'

/**
 * Items that the vault gave to a storage account after their protection, with one wish for each trade. One of the two
 * items of each older wish has been sold since. The vault has reported the newest sales, but they are not booked yet.
 */
const departures = (): Statements => [
  sql`create table year_departure as
    select trade_id as id, bot_id, created_at + interval '9 days' as at, created_at < now() - interval '19 days' as is_sold
    from year_trade where state = 'final' and created_at < now() - interval '10 days'`,
  sql`insert into wish (id, kind, bot_id, destination, asked_by, created_at, closed_at) overriding system value
    select id, 'send', bot_id, 'storage', 'rule', at, at + interval '10 minutes' from year_departure`,
  sql`insert into wish_item (wish_id, app_id, context_id, asset_id, is_open)
    select id, 730, '2', 'r' || id || '-' || n, false from year_departure, generate_series(1, 2) n`,
  sql`insert into vault_deed (wish_id, state, partner_steam_id, assets, offer_id, steam_trade_id, at)
    select id, 'delivered', ${STORAGE}, array['730/r' || id || '-1', '730/r' || id || '-2'], 'v' || id, 'd' || id, at
    from year_departure`,
  sql`insert into departure (id, bot_id, steam_trade_id, partner_steam_id, begun_at, stage, explanation) overriding system value
    select id, bot_id, 'd' || id, ${STORAGE}, at, 'gone', 'vault' from year_departure`,
  sql`insert into departed_item (departure_id, app_id, context_id, asset_id, new_asset_id, is_booked)
    select id, 730, '2', 'r' || id || '-' || n, id * 10 + n, true from year_departure, generate_series(1, 2) n`,
  sql`insert into custody_entry (trade_id, asset_id, received_asset_id, bot_id, moved, created_at, departure_id)
    select id, id || '-' || n, 'r' || id || '-' || n, bot_id, 'out', at, id from year_departure, generate_series(1, 2) n order by id, n`,
  sql`insert into sale (id, market, reference, trade_id, asset_id, app_id, listed_asset_id, state, currency, price, received,
      listed_at, sold_at, settles_at, ended_at, steps) overriding system value
    select id, 'market.test', id, id, id || '-1', 730, id * 10 + 1, 'paid', 'USD', 600, 570,
      at, at + interval '1 day', at + interval '9 days', at + interval '9 days', 2
    from year_departure where is_sold and id <= (select max(id) - 3 from year_departure where is_sold)`,
  // For a few items, Steam gave the asset id only later. A few others came back.
  sql`insert into learnt_asset (custody_entry_id, received_asset_id, learnt_at)
    select id, received_asset_id, created_at from custody_entry where moved = 'in' and trade_id % 20 = 0`,
  sql`insert into sent_back_item (bot_id, steam_trade_id, app_id, asset_id, received_asset_id, seen_at)
    select bot_id, 'b' || id, 730, 'b' || id, 'c' || id, at from year_departure where id % 50 = 0`,
  ...['trade', 'wish', 'departure', 'sale'].map(
    (table) =>
      sql`select setval(pg_get_serial_sequence(${table}, 'id'), coalesce(max(id), 1)) from ${sql.table(table)}`,
  ),
  sql`insert into market_account (market, kind, currency)
    select 'market.test', kind, 'USD' from unnest(array['settling', 'free', 'fees', 'sales']) kind`,
  sql`insert into market_entry (sale_id, step, debit_account, credit_account, amount, created_at)
    select sale.id, step, debit.id, credit.id, amount, ended_at
    from sale, (values (1, 'settling', 'sales', 570), (1, 'fees', 'sales', 30), (2, 'free', 'settling', 570))
      moved (step, debit, credit, amount)
    join market_account debit on debit.kind = moved.debit join market_account credit on credit.kind = moved.credit`,
  sql`update market_account set balance = sum from (
      select id, sum(amount) from (select credit_account as id, amount from market_entry
        union all select debit_account, -amount from market_entry) moved group by id) own
    where own.id = market_account.id`,
  sql`insert into vault_told (n, part, at, market, reference, told, answer, answered_at)
    select gone.id * 5 + row, 1, at, 'market.test', gone.id, told,
      case when sale.id is not null then case when row = 1 then 'recorded' else 'changed' end end,
      case when sale.id is not null then at end
    from year_departure gone left join sale on sale.id = gone.id, lateral (values
      (1, jsonb_build_object('kind', 'listing', 'appId', 730, 'listedAssetId', (gone.id * 10 + 1)::text, 'price', '600')),
      (2, '{"kind": "report", "report": {"kind": "sold"}}'),
      (3, '{"kind": "report", "report": {"kind": "delivered", "steamTradeId": "1"}}'),
      (4, '{"kind": "report", "report": {"kind": "settling", "received": "570", "settlesAt": "2026-01-01T00:00:00.000Z"}}'),
      (5, '{"kind": "report", "report": {"kind": "paid", "received": "570"}}')) told (row, told)
    where is_sold`,
]

/** Counts of items. The newest entries are not counted yet. */
const itemCounts = (): Statements => [
  sql`update bot set items_held = held, items_counted_to = last from (
      select bot_id, sum(case moved when 'in' then 1 else -1 end) as held,
        (select max(id) from custody_entry) - 200 as last from custody_entry
      where id <= (select max(id) from custody_entry) - 200 group by bot_id) counted
    where bot.id = counted.bot_id`,
  sql`insert into bot_games (bot_id, items, counted_to) select id, jsonb_build_object('730', items_held), items_counted_to from bot`,
  sql`insert into held_items_mark (counted_to) select max(id) - 200 from custody_entry`,
  sql`insert into held_item (custody_entry_id, bot_id, trade_id, asset_id)
    select id, bot_id, trade_id, asset_id from (
      select distinct on (trade_id, asset_id) * from custody_entry where id <= (select counted_to from held_items_mark)
      order by trade_id, asset_id, id desc) last
    where moved = 'in'`,
]

const money = ({ stores }: Size): Statements => [
  sql`insert into account (store_id, kind, currency, floor) select null, kind, 'USD', null
    from unnest(array['items', 'commission', 'paid_out']) kind`,
  sql`insert into account (store_id, kind, currency, floor)
    select n, kind, 'USD', 0 from generate_series(1, ${stores}::int) n, unnest(array['available', 'held']) kind`,
  sql`
    insert into ledger_entry (debit_account, credit_account, amount, currency, cause, trade_id, quote_id, rate_id, created_at)
    select (select id from account where kind = 'items'), account.id, amount, 'USD', cause, trade_id, quote_id,
      1 + trade_id % 1461, created_at
    from year_trade cross join (values ('delivered', 'available', 1000), ('commission', 'commission', 100)) moved (cause, kind, amount)
    join account on account.kind = moved.kind and (account.store_id is null or account.store_id = year_trade.store_id)
    where state in ('held', 'final') order by trade_id`,
  // One payout for every twenty trades.
  sql`insert into payout (store_id, currency, amount, reference, created_at)
    select store_id, 'USD', 500, 'payout ' || trade_id, created_at + interval '10 days' from year_trade
    where state = 'final' and created_at < now() - interval '10 days' and trade_id % 20 = 0 order by trade_id`,
  sql`insert into operator_act (at, operator, act, arguments, reason)
    select created_at, 'Ada', 'payout record', jsonb_build_object('payoutId', id::text), 'weekly' from payout order by id`,
  sql`
    insert into ledger_entry (debit_account, credit_account, amount, currency, cause, payout_id, created_at)
    select available.id, paid_out.id, amount, 'USD', 'paid_out', payout.id, created_at from payout
    join account available on available.kind = 'available' and available.store_id = payout.store_id
    join account paid_out on paid_out.kind = 'paid_out' order by payout.id`,
  sql`update account set balance = sum from (
      select id, sum(amount) from (select credit_account as id, amount from ledger_entry
        union all select debit_account, -amount from ledger_entry) moved group by id) own
    where own.id = account.id`,
  // As if the ledger had just been checked, except its newest 3,000 entries.
  sql`update ledger_check set begun_at = now(), complete_at = now() + interval '1 second',
    verified_entry = (select greatest(0, max(id) - 3000) from ledger_entry)`,
  sql`insert into verified_balance (account_id, balance)
    select id, sum(amount) from (
      select credit_account as id, amount, ledger_entry.id as entry from ledger_entry
      union all select debit_account, -amount, ledger_entry.id from ledger_entry) moved
    where entry <= (select verified_entry from ledger_check) group by id`,
  sql`insert into credit_at_risk (store_id, usd_cents)
    select store_id, count(*) * 1000 from year_trade where state = 'held' group by store_id`,
]

/** The payload of every event, as large as a real one. */
const PAYLOAD = JSON.stringify({
  type: 'deposit.succeeded',
  timestamp: '2026-01-01T12:00:00.000Z',
  data: withChange(
    inventedDeposit(
      '1',
      { externalId: 'order', currency: 'USD', customerReference: 'customer', metadata: {} },
      new Date('2026-01-01T11:00:00Z'),
    ),
    { status: 'succeeded', amount: 1_000 },
  ),
})

const events = (): Statements => [
  sql`
    insert into event (id, store_id, deposit_id, type, payload, created_at, sequence)
    select gen_random_uuid(), store_id, id, type, ${PAYLOAD}::jsonb, at, case when is_new then null
      else row_number() over (partition by store_id order by is_new, at, id) end
    from (
      select store_id, id, created_at as at, 'deposit.pending' as type, status = 'pending' as is_new
      from deposit where status in ('succeeded', 'tradeDeclined', 'pending')
      union all
      select store_id, id, created_at + interval '1 minute', case status when 'succeeded' then 'deposit.succeeded'
        when 'tradeDeclined' then 'deposit.trade_declined' else 'deposit.payment_timeout' end, false
      from deposit where status in ('succeeded', 'tradeDeclined', 'paymentTimeout')
    ) new_event order by at`,
  sql`update store set last_sequence = last from (select store_id, max(sequence) as last from event group by store_id) own
    where own.store_id = store.id`,
  sql`
    insert into webhook_delivery (event_id, endpoint_id, state, attempts, due_at, last_result, delivered_at, claim)
    select event.id, endpoint.id, case when is_due then 'due' else 'delivered' end, 1,
      case when is_due then now() - interval '1 minute' end, '200', case when not is_due then event.created_at end,
      case when is_due then sequence % 2 else 1 end
    from (select *, created_at > now() - interval '1 hour' and sequence % 2 = 0 as is_due from event
      where sequence is not null and created_at > now() - interval '90 days 1 hour') event
    join webhook_endpoint endpoint on endpoint.store_id = event.store_id`,
  sql`
    insert into webhook_attempt (delivery_id, endpoint_id, attempt, at, duration_ms, status, answer)
    select id, endpoint_id, 1, coalesce(delivered_at, now()), 40, 200, '{"received":true}' from webhook_delivery
    where coalesce(delivered_at, now()) > now() - interval '30 days 1 hour'`,
]

/** Rows that are kept for hours or days, some of them already too old. */
const shortLived = (): Statements => [
  sql`insert into idempotency_key (store_id, key, request_sha256, created_at, status, answer)
    select store_id, external_id, '', created_at, 200, 'answer' from deposit where created_at > now() - interval '2 days 1 hour'`,
  sql`insert into deposit_link (deposit_id, link_hmac, given_at)
    select id, decode(hash, 'hex'), created_at from deposit where created_at > now() - interval '2 hours'`,
  sql`insert into inventory_request (bot_id, steam_id, token_sealed, token_hmac, game, language, state, answer, created_at, done_at, deposit_id)
    select 1, user_steam_id, '\\x01'::bytea, '\\x01'::bytea, 'cs', 'en', 'done', jsonb_build_object('kind', 'items', 'items',
      (select string_agg(md5(id || ' ' || n), '') from generate_series(1, 150) n)),
      created_at, created_at, id from deposit where created_at > now() - interval '25 hours'`,
  // Unused quotes: one for each deposit of the last 25 hours, and a second for those of the last 30 minutes.
  sql`insert into quote (id, deposit_id, steam_id, game, currency, rate_id, created_at, expires_at)
    select md5(id || ' old ' || n)::uuid, id, user_steam_id, 'cs', 'USD', 1, created_at + n * interval '1 minute',
      created_at + (n + 15) * interval '1 minute'
    from deposit, generate_series(1, 2) n
    where created_at > now() - case n when 1 then interval '25 hours' else interval '30 minutes' end`,
  sql`insert into quote_item (quote_id, asset_id, app_id, context_id, name, market_hash_name, price, gross)
    select id, 'q-' || n, 730, '2', 'AK-47 | Redline', 'AK-47 | Redline (Field-Tested)', 500, 550
    from quote, generate_series(1, 50) n where created_at > now() - interval '25 hours'`,
  sql`insert into sweep_place (sweep, up_to) values ('quotes', now() - interval '25 hours'),
    ('inventory items', now() - interval '20 minutes')`,
]
