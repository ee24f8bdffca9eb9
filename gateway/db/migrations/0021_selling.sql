-- oldest version: 0.3.0
-- What the vault reports of the items that it sells, and what it reads to sell them.

-- Each row is an entry of the vault's log, or a part of one. If the till has two roles, only the vault's role may
-- insert (gateway/db/roles.ts). The till books the rows in the order of the primary key.
create table vault_told (
  -- The number of the entry in the log, and that of the part in the entry.
  n bigint not null,
  part integer not null,
  -- By the vault's clock.
  at timestamptz not null,
  market text not null check (market ~ '^[a-z0-9][a-z0-9.-]{0,39}$'),
  reference text not null check (length(reference) between 1 and 128),
  -- The vault's report.
  told jsonb not null,
  -- How the till booked the report (EntryAnswer in gateway/db/sale-tables.ts), and when. The till writes only these two
  -- columns.
  answer text check (answer in ('recorded', 'known', 'not_ours', 'not_free', 'taken', 'changed', 'unchanged', 'unknown', 'unreadable')),
  answered_at timestamptz,
  primary key (n, part),
  check ((answer is null) = (answered_at is null))
);
create index vault_told_new on vault_told (n, part) where answer is null;

-- Markets that an operator has switched off. The vault lists nothing there, and removes its listings.
create table market_off (
  market text primary key check (market ~ '^[a-z0-9][a-z0-9.-]{0,39}$'),
  since timestamptz not null default till_now()
);

-- What was credited for items that left a bot, in US cents, by the items' ids in their new owner's inventory.
create view item_cost as
select gone.app_id, gone.new_asset_id as asset_id, ceil(item.price / rate.per_usd)::bigint as usd_cents
from departed_item gone
join custody_entry entry on entry.departure_id = gone.departure_id and entry.moved = 'out'
  and entry.received_asset_id = gone.asset_id
join trade_item item on item.trade_id = entry.trade_id and item.asset_id = entry.asset_id and item.app_id = gone.app_id
join trade on trade.id = item.trade_id
join quote on quote.id = trade.quote_id
join exchange_rate rate on rate.id = quote.rate_id
where gone.new_asset_id is not null and not gone.is_back;
