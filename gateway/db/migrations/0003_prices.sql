-- Prices that no single source can push, and what every quote stands on.

alter table price
  -- What the item was worth over 7 days: as the source says, else from what it said before.
  add column level_micros bigint check (level_micros > 0),
  -- The last price of each of the latest days before as_of, newest first; days since 1970 in UTC.
  add column past_micros bigint[] not null default '{}',
  add column past_days integer[] not null default '{}';
-- Every refresh rewrites most rows; with room on the page the index stays as it is.
alter table price set (fillfactor = 70);

-- What the operator takes out of the sources' hands: blocked is not taken, frozen keeps the prices of that moment.
create table price_hold (
  game text not null check (game in ('cs', 'dota', 'rust', 'tf')),
  -- Null: the whole game.
  market_hash_name text,
  kind text not null check (kind in ('blocked', 'frozen')),
  since timestamptz not null,
  unique nulls not distinct (game, market_hash_name)
);

-- When each source was asked for what, so that its limits hold for all processes and over restarts.
create table price_feed (
  source text not null,
  feed text not null check (feed in ('cs', 'dota', 'rust', 'tf', 'rates')),
  asked_at timestamptz,
  next_at timestamptz not null,
  good_at timestamptz,
  -- In a row.
  failures integer not null default 0,
  last_error text,
  primary key (source, feed)
);

-- Who said what of the items of a quote, and when.
create table quote_price (
  quote_id uuid not null references quote on delete cascade,
  market_hash_name text not null,
  usd_micros bigint not null check (usd_micros > 0),
  level_micros bigint,
  said jsonb not null,
  primary key (quote_id, market_hash_name)
);
alter table quote add column commission_bps integer check (commission_bps between 0 and 10000);
