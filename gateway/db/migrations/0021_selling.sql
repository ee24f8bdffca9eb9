-- oldest version: 0.3.0
-- What the vault tells of the items that it sells, and what it may read for that.

-- Written by the vault's role alone, an entry of its log each: see roles.ts. The till books it in this order.
create table vault_told (
  n bigint not null,
  part integer not null,
  -- By the vault's clock.
  at timestamptz not null,
  market text not null check (market ~ '^[a-z0-9][a-z0-9.-]{0,39}$'),
  reference text not null check (length(reference) between 1 and 128),
  told jsonb not null,
  -- What the till made of it, and when: the till writes these two alone.
  answer text check (answer in ('recorded', 'known', 'not_ours', 'not_free', 'taken', 'changed', 'unchanged', 'unknown', 'unreadable')),
  answered_at timestamptz,
  primary key (n, part),
  check ((answer is null) = (answered_at is null))
);
create index vault_told_new on vault_told (n, part) where answer is null;

-- Markets that an operator has switched off: the vault lists nothing there, and takes down what it had listed.
create table market_off (
  market text primary key check (market ~ '^[a-z0-9][a-z0-9.-]{0,39}$'),
  since timestamptz not null default till_now()
);

-- What was credited for items that left a bot, in cents of a dollar, by the ids that their new owner has them under.
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
