-- Stores, their keys and their webhook.
create table store (
  id bigint generated always as identity primary key,
  name text not null check (length(name) between 1 and 80),
  -- Origins that backToStoreUrl and redirectUrl may have, as 'https://host[:port]'.
  origins text[] not null check (cardinality(origins) between 1 and 20),
  webhook_url text,
  -- AES-256-GCM, bound to this row and column.
  webhook_secret bytea,
  credit_mode text not null default 'on_accept' check (credit_mode in ('on_accept', 'on_release')),
  -- Most that may be credited while Steam can still take it back, in US cents.
  risk_limit_usd_cents bigint not null default 0 check (risk_limit_usd_cents >= 0),
  -- Last position given to an event of this store.
  last_sequence bigint not null default 0,
  created_at timestamptz not null default now()
);

create table api_key (
  -- The public part of the key.
  id text primary key,
  store_id bigint not null references store,
  secret_sha256 bytea not null,
  created_at timestamptz not null default now(),
  revoked_at timestamptz
);

-- Bots and the lease by which one process speaks for one bot.
create table bot (
  id bigint generated always as identity primary key,
  steam_id text not null unique,
  name text not null,
  avatar_url text not null,
  profile_url text not null,
  level integer not null check (level >= 0),
  -- AES-256-GCM, bound to this row and column.
  refresh_token bytea not null,
  state text not null default 'active' check (state in ('active', 'paused', 'dead')),
  -- Why it is dead or was last out of reach.
  state_reason text,
  lease_owner uuid,
  lease_epoch bigint not null default 0,
  lease_until timestamptz,
  -- Set by the holder once a session is open, cleared when it is not.
  online boolean not null default false,
  created_at timestamptz not null default now()
);

-- Prices and rates as sources said them.
create table price (
  source text not null,
  game text not null check (game in ('cs', 'dota', 'rust', 'tf')),
  market_hash_name text not null,
  -- Millionths of a US dollar, before commission.
  usd_micros bigint not null check (usd_micros > 0),
  -- Sales in 7 days, or listings where the source has no sales.
  popularity integer not null check (popularity >= 0),
  popularity_kind text not null check (popularity_kind in ('sales7d', 'listings')),
  as_of timestamptz not null,
  primary key (game, market_hash_name, source)
);

create table exchange_rate (
  id bigint generated always as identity primary key,
  currency text not null check (currency in ('USD', 'EUR', 'BRL')),
  -- Units of the currency for one US dollar.
  per_usd numeric(18, 8) not null check (per_usd > 0),
  source text not null,
  as_of timestamptz not null
);
create index exchange_rate_latest on exchange_rate (currency, as_of desc);

-- One visit to the till.
create table deposit (
  id bigint generated always as identity (start with 1001) primary key,
  hash text not null unique check (hash ~ '^[0-9a-f]{32}$'),
  store_id bigint not null references store,
  external_id text not null,
  -- What the creating call asked for, to tell a repetition from a conflict.
  request_sha256 bytea not null,
  status text not null default 'created' check (status in ('created', 'pending', 'succeeded', 'paymentTimeout',
    'tradeTimeout', 'tradeDeclined', 'tradeCountered', 'tradeHasInvalidItems')),
  currency text not null check (currency in ('USD', 'EUR', 'BRL')),
  language text check (language in ('en', 'ru')),
  back_to_store_url text not null,
  redirect_url text,
  min_amount bigint check (min_amount > 0),
  max_amount bigint check (max_amount > 0),
  -- What the store was credited; only with 'succeeded'.
  credited_amount bigint check (credited_amount > 0),
  held_amount bigint not null default 0 check (held_amount >= 0),
  held_until timestamptz,
  -- The shopper, once the trade link is known.
  user_steam_id text,
  user_token text,
  user_name text,
  user_avatar_url text,
  user_profile_url text,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  unique (store_id, external_id),
  check ((status = 'succeeded') = (credited_amount is not null))
);
create index deposit_expiring on deposit (expires_at) where status = 'created';

-- Work for the process that holds a bot's lease; the answer lands in the row.
create table inventory_request (
  id bigint generated always as identity primary key,
  bot_id bigint not null references bot,
  steam_id text not null,
  token text not null,
  game text not null check (game in ('cs', 'dota', 'rust', 'tf')),
  language text not null check (language in ('en', 'ru')),
  state text not null default 'open' check (state in ('open', 'taken', 'done')),
  -- The port's InventoryAnswer as JSON.
  answer jsonb,
  created_at timestamptz not null default now(),
  done_at timestamptz
);
create index inventory_request_recent on inventory_request (steam_id, game, language, created_at desc);

-- The prices a shopper saw.
create table quote (
  id uuid primary key,
  deposit_id bigint not null references deposit,
  game text not null,
  currency text not null,
  rate_id bigint not null references exchange_rate,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index quote_latest on quote (deposit_id, game, created_at desc);

create table quote_item (
  quote_id uuid not null references quote on delete cascade,
  asset_id text not null,
  app_id integer not null,
  context_id text not null,
  name text not null,
  market_hash_name text not null,
  -- What the shopper is credited and what the item is worth before commission, minor units of the quote.
  price bigint not null check (price > 0),
  gross bigint not null check (gross >= price),
  primary key (quote_id, asset_id)
);

-- One collection of items by a bot.
create table trade (
  id bigint generated always as identity primary key,
  deposit_id bigint not null references deposit,
  bot_id bigint not null references bot,
  quote_id uuid not null references quote,
  game text not null,
  -- Message of the offer; tells ours from any other.
  secret_code text not null unique,
  partner_steam_id text not null,
  partner_token text not null,
  state text not null default 'intended' check (state in ('intended', 'sending', 'unknown', 'active', 'refused',
    'abandoned', 'declined', 'countered', 'invalid', 'timed_out', 'held', 'final')),
  -- Why it was refused or ended.
  reason text,
  currency text not null,
  total bigint not null check (total > 0),
  gross_total bigint not null check (gross_total >= total),
  -- Lease under which Steam was last written to.
  lease_epoch bigint not null default 0,
  send_started_at timestamptz,
  -- Reads that did not find an unknown offer.
  missed_reads integer not null default 0,
  steam_offer_id text unique,
  -- Steam's id of the exchange of items: a credit is unique by it.
  steam_trade_id text unique,
  -- When the shopper's time is over; from the moment the offer is known to be active. Void once accepted.
  deadline timestamptz,
  accepted_at timestamptz,
  -- First of two reads that a bad end needs.
  bad_end text,
  bad_end_seen_at timestamptz,
  delivered_at timestamptz,
  settles_at timestamptz,
  -- When the sweep must look at this trade; null when nothing is left to do.
  due_at timestamptz,
  created_at timestamptz not null default now(),
  ended_at timestamptz
);
-- One live trade a deposit.
create unique index trade_one_live on trade (deposit_id)
  where state in ('intended', 'sending', 'unknown', 'active', 'held', 'final');
create index trade_due on trade (due_at) where due_at is not null;
create index trade_of_bot on trade (bot_id) where state in ('intended', 'sending', 'unknown', 'active');

create table trade_item (
  trade_id bigint not null references trade,
  asset_id text not null,
  app_id integer not null,
  context_id text not null,
  name text not null,
  market_hash_name text not null,
  price bigint not null check (price > 0),
  gross bigint not null check (gross >= price),
  -- False once the trade ended without the item.
  live boolean not null default true,
  -- The item's id in the bot's inventory.
  received_asset_id text,
  primary key (trade_id, asset_id)
);
-- One live trade an asset.
create unique index trade_item_one_live on trade_item (app_id, asset_id) where live;

-- Double entry: one row is one movement, so it balances by construction.
create table account (
  id bigint generated always as identity primary key,
  -- Null for the operator's own accounts.
  store_id bigint references store,
  kind text not null check (kind in ('held', 'available', 'items', 'commission', 'loss', 'paid_out')),
  currency text not null check (currency in ('USD', 'EUR', 'BRL')),
  -- Sum of credits less debits. Stores' accounts have a floor of zero.
  balance bigint not null default 0,
  unique nulls not distinct (store_id, kind, currency),
  check ((store_id is not null) = (kind in ('held', 'available'))),
  check (store_id is null or balance >= 0)
);

create table ledger_entry (
  id bigint generated always as identity primary key,
  debit_account bigint not null references account,
  credit_account bigint not null references account,
  amount bigint not null check (amount > 0),
  currency text not null,
  cause text not null check (cause in ('delivered', 'commission', 'released')),
  trade_id bigint not null references trade,
  quote_id uuid not null references quote,
  rate_id bigint not null references exchange_rate,
  created_at timestamptz not null default now(),
  check (debit_account <> credit_account),
  -- A cause touches an account pair once for a trade: a repeated credit cannot be written.
  unique (trade_id, cause, debit_account, credit_account)
);

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only: write a new row instead', tg_table_name;
end $$;
create trigger ledger_entry_append_only before update or delete or truncate on ledger_entry
  for each statement execute function refuse_change();

-- What happened, told to the store in order.
create table event (
  id uuid primary key,
  store_id bigint not null references store,
  deposit_id bigint not null references deposit,
  type text not null,
  -- Body of the webhook without its sequence.
  payload jsonb not null,
  created_at timestamptz not null default now(),
  -- Taken under the deposit's lock, so events of one deposit are in their order.
  inserted bigint generated always as identity,
  -- Dense per store; given by the publisher after the commit.
  sequence bigint,
  unique (store_id, sequence),
  -- One event a transition.
  unique (deposit_id, type)
);
create index event_unpublished on event (inserted) where sequence is null;

create table webhook_delivery (
  event_id uuid primary key references event,
  state text not null default 'due' check (state in ('due', 'delivered', 'failed')),
  attempts integer not null default 0,
  due_at timestamptz,
  -- The last answer, for the operator: status code or kind of failure.
  last_result text,
  delivered_at timestamptz
);
create index webhook_due on webhook_delivery (due_at) where state = 'due';

create table setting (
  name text primary key,
  value jsonb not null
);
