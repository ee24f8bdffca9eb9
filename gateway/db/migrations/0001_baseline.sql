-- The tables of version 0.2.0, in an order in which each refers only to tables above it.

-- ---------------------------------------------------------------------------------------------------------- clock

-- How far the till's clock is ahead of the machine's clock. It can be moved forward only in sandbox mode. No row: it
-- was never moved.
create table till_clock (
  only_row boolean primary key default true check (only_row),
  -- At most 400 days.
  ahead_s integer not null check (ahead_s between 0 and 34560000)
);

-- The till's time in SQL. A connection of sandbox mode sets tradetill.mode; every other one gets the machine's time,
-- whatever the table holds. now() is written without its schema, so a proof can define one of its own.
-- Use it as (select till_now()): a query then computes it once, not for each row.
create function till_now() returns timestamptz language sql stable parallel safe as $$
  select now() + case when current_setting('tradetill.mode', true) = 'sandbox'
    then make_interval(secs => coalesce((select ahead_s from till_clock), 0))
    else interval '0' end
$$;

-- For append-only tables: a record of money, of items or of what an operator did is never rewritten.
create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only: write a new row instead', tg_table_name;
end $$;

-- --------------------------------------------------------------------------------------------------------- stores

create table store (
  id bigint generated always as identity primary key,
  name text not null check (length(name) between 1 and 80),
  -- Origins that backToStoreUrl and redirectUrl may have, such as 'https://store.example'.
  origins text[] not null check (cardinality(origins) between 1 and 20),
  credit_mode text not null default 'on_accept' check (credit_mode in ('on_accept', 'on_release')),
  -- The most credit at risk at a time, in US cents. Credit is at risk if it became available before the protection of
  -- its trade ended, or was lost to a reversal.
  risk_limit_usd_cents bigint not null default 0 check (risk_limit_usd_cents >= 0),
  -- Who bears the loss when a trade is reversed.
  liability text not null default 'operator' check (liability in ('operator', 'store')),
  -- The store's accent colour on the deposit page. Null: the page's own.
  accent text check (accent ~ '^#[0-9a-f]{6}$'),
  -- The sequence of the store's last published event.
  last_sequence bigint not null default 0,
  created_at timestamptz not null default till_now()
);

create table api_key (
  -- The public part of the key.
  id text primary key,
  store_id bigint not null references store,
  secret_sha256 bytea not null,
  name text not null default 'first key' check (length(name) between 1 and 80),
  scopes text[] not null
    default array['deposits:read', 'deposits:write', 'balance:read', 'webhooks:manage'] check (cardinality(scopes) > 0),
  -- Written at most once a minute.
  last_used_at timestamptz,
  -- When the key stops working: at the end of its lifetime, or of the overlap after a rotation.
  expires_at timestamptz,
  created_at timestamptz not null default till_now(),
  revoked_at timestamptz
);
create index api_key_of_store on api_key (store_id);

-- Answers to calls with an Idempotency-Key, kept for 48 hours.
create table idempotency_key (
  store_id bigint not null references store,
  key text not null check (length(key) between 1 and 255),
  -- The hash of method, path and body.
  request_sha256 bytea not null,
  created_at timestamptz not null,
  -- Until then no other call with this key may run. A running call renews the lock, so after that time its process was
  -- killed, or the call hangs. Null once the call is answered.
  locked_until timestamptz,
  status integer,
  -- AES-256-GCM: an answer may hold a webhook secret.
  answer bytea,
  primary key (store_id, key)
);
create index idempotency_key_old on idempotency_key (created_at);

-- ----------------------------------------------------------------------------------------------------------- bots

-- Bots, each with its lease: the right of one process to act on Steam as this bot.
create table bot (
  id bigint generated always as identity primary key,
  steam_id text not null unique,
  name text not null,
  avatar_url text not null,
  profile_url text not null,
  level integer not null check (level >= 0),
  -- AES-256-GCM, bound to this row and column.
  refresh_token bytea not null,
  -- When the refresh token expires, read from the token itself.
  token_expires_at timestamptz,
  -- When the account acknowledged Steam's notice about trade protection. Before that, its offers get stuck.
  protection_acknowledged_at timestamptz,
  state text not null default 'active' check (state in ('active', 'paused', 'dead', 'removed')),
  -- Why the bot is dead or offline. Null while it is online.
  state_reason text,
  lease_owner uuid,
  lease_epoch bigint not null default 0,
  lease_until timestamptz,
  -- Whether the process that holds the lease has an open Steam session.
  online boolean not null default false,
  -- Since when calls about offers, or about inventories, fail. Null: they do not count as failing.
  offers_failing_since timestamptz,
  inventories_failing_since timestamptz,
  -- When the bot's history of trades was last searched for reversals.
  history_at timestamptz,
  -- How many items the bot has in the till's books.
  items_held integer not null default 0 check (items_held >= 0),
  -- The last custody entry that items_held includes. A reader adds the later ones.
  items_counted_to bigint not null default 0,
  created_at timestamptz not null default till_now()
);

-- Bars: until when a bot gets no new trades after a refusal by Steam, or is chosen last (`doubted`). One row per bot
-- and scope, which is all games or one game.
create table bot_bar (
  bot_id bigint not null references bot,
  scope text not null check (scope in ('all', 'cs', 'dota', 'rust', 'tf')),
  -- BarReason in gateway/bots/bar.ts explains the values.
  reason text not null check (reason in
    ('bot_cannot_trade', 'own_hold', 'too_many_in_all', 'inventory_full', 'rate_limited', 'doubted')),
  barred_at timestamptz not null,
  until timestamptz not null,
  -- How many bars came one after another, without an offer that Steam took in between.
  times integer not null check (times > 0),
  primary key (bot_id, scope)
);

-- Shoppers to whom Steam refused this bot's offer without giving a reason, and whose same offer it took from another
-- bot.
create table bot_doubt (
  bot_id bigint not null references bot,
  partner_steam_id text not null,
  doubted_at timestamptz not null,
  primary key (bot_id, partner_steam_id)
);

-- -------------------------------------------------------------------------------------------------------- outages

-- A row exists while its outage lasts.
create table outage (
  kind text primary key check (kind in (
    -- No bot can send or read offers.
    'offers',
    -- No bot can read inventories.
    'inventories',
    -- An operator has begun maintenance.
    'maintenance',
    -- At least one of the three above lasts, so the deadlines of deposits stand still.
    'deposits')),
  since timestamptz not null
);

-- -------------------------------------------------------------------------------------------------------- pricing

-- The newest price that each source gave for an item.
create table price (
  source text not null,
  game text not null check (game in ('cs', 'dota', 'rust', 'tf')),
  market_hash_name text not null,
  -- Millionths of a US dollar, before commission.
  usd_micros bigint not null check (usd_micros > 0),
  -- How many sales or current listings there are: popularity_kind says which.
  popularity integer not null check (popularity >= 0),
  popularity_kind text not null check (popularity_kind in ('sales7d', 'listings')),
  as_of timestamptz not null,
  -- The weekly level: the source's own 7-day price, or else one computed from its earlier prices.
  level_micros bigint check (level_micros > 0),
  -- The last price of each of the latest days before as_of, newest first. past_days has the days, counted from
  -- 1970-01-01 in UTC.
  past_micros bigint[] not null default '{}',
  past_days integer[] not null default '{}',
  primary key (game, market_hash_name, source)
)
-- Every refresh rewrites most rows. With room on its page, a row is rewritten without a change of the index.
with (fillfactor = 70);

-- Items on which the operator overrules the sources. blocked: not accepted. frozen: the price stays as it was at
-- `since`.
create table price_hold (
  game text not null check (game in ('cs', 'dota', 'rust', 'tf')),
  -- Null: the whole game.
  market_hash_name text,
  kind text not null check (kind in ('blocked', 'frozen')),
  since timestamptz not null,
  unique nulls not distinct (game, market_hash_name)
);

-- When each source was last asked, so its limits hold across processes and restarts.
create table price_feed (
  source text not null,
  feed text not null check (feed in ('cs', 'dota', 'rust', 'tf', 'rates')),
  asked_at timestamptz,
  next_at timestamptz not null,
  good_at timestamptz,
  -- Failures in a row.
  failures integer not null default 0,
  last_error text,
  primary key (source, feed)
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

create table setting (
  name text primary key,
  value jsonb not null
);

-- ------------------------------------------------------------------------------------------------------- deposits

create table deposit (
  id bigint generated always as identity (start with 1001) primary key,
  hash text not null unique check (hash ~ '^[0-9a-f]{32}$'),
  store_id bigint not null references store,
  external_id text not null,
  -- The hash of the creating call, which tells a repeated call from a conflicting one.
  request_sha256 bytea not null,
  status text not null default 'created' check (status in ('created', 'pending', 'succeeded', 'paymentTimeout',
    'tradeTimeout', 'tradeDeclined', 'tradeCountered', 'tradeHasInvalidItems')),
  currency text not null check (currency in ('USD', 'EUR', 'BRL')),
  language text check (language in ('en', 'ru')),
  back_to_store_url text not null,
  redirect_url text,
  min_amount bigint check (min_amount > 0),
  max_amount bigint check (max_amount > 0),
  -- The amount that the store wants to receive. If it is set, min_amount equals it.
  target_amount bigint,
  -- Null: all games.
  games text[] check (cardinality(games) between 1 and 4 and games <@ array['cs', 'dota', 'rust', 'tf']),
  -- Null: the store's setting.
  credit_mode text check (credit_mode in ('on_accept', 'on_release')),
  -- The store's name for its customer.
  customer_reference text check (length(customer_reference) between 1 and 128),
  -- The store's own data, returned with the deposit.
  metadata jsonb not null default '{}',
  -- What the store was credited.
  credited_amount bigint check (credited_amount > 0),
  held_amount bigint not null default 0 check (held_amount >= 0),
  held_until timestamptz,
  reversed_amount bigint not null default 0 check (reversed_amount >= 0),
  -- The shopper, once the trade link is known.
  user_steam_id text,
  user_token text,
  user_name text,
  user_avatar_url text,
  user_profile_url text,
  created_at timestamptz not null default till_now(),
  expires_at timestamptz not null,
  -- When the store cancelled it, before there was an offer.
  cancelled_at timestamptz,
  unique (store_id, external_id),
  check ((status = 'succeeded') = (credited_amount is not null)),
  check (target_amount > 0 and target_amount = min_amount),
  check (cancelled_at is null or status <> 'created')
);
create index deposit_expiring on deposit (expires_at) where status = 'created';
-- For the store's lists, newest first: all, by status, by customer.
create index deposit_of_store on deposit (store_id, created_at desc, id desc);
create index deposit_of_status on deposit (store_id, status, created_at desc, id desc);
create index deposit_of_customer on deposit (store_id, customer_reference, created_at desc, id desc)
  where customer_reference is not null;
-- For the metrics.
create index deposit_open on deposit (status) where status in ('created', 'pending');

-- ------------------------------------------------------------------------------------------------------ inventory

-- Requests to read an inventory, for the process that holds the bot's lease. It writes the answer into the row.
create table inventory_request (
  id bigint generated always as identity primary key,
  bot_id bigint not null references bot,
  steam_id text not null,
  token text not null,
  game text not null check (game in ('cs', 'dota', 'rust', 'tf')),
  language text not null check (language in ('en', 'ru')),
  state text not null default 'open' check (state in ('open', 'taken', 'done')),
  -- An InventoryAnswer (gateway/steam/steam.ts) as JSON.
  answer jsonb,
  created_at timestamptz not null default till_now(),
  done_at timestamptz
);
create index inventory_request_recent on inventory_request (steam_id, game, language, created_at desc);
-- For the sweep that deletes old requests.
create index inventory_request_old on inventory_request (created_at);

-- The prices a shopper saw.
create table quote (
  id uuid primary key,
  deposit_id bigint not null references deposit,
  game text not null,
  currency text not null,
  rate_id bigint not null references exchange_rate,
  commission_bps integer check (commission_bps between 0 and 10000),
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index quote_latest on quote (deposit_id, game, created_at desc);
-- For the sweeps that delete expired quotes.
create index quote_old on quote (expires_at);

create table quote_item (
  quote_id uuid not null references quote on delete cascade,
  asset_id text not null,
  app_id integer not null,
  context_id text not null,
  name text not null,
  market_hash_name text not null,
  -- The shopper's credit, and the item's worth before commission, in minor units of the quote's currency.
  price bigint not null check (price > 0),
  gross bigint not null check (gross >= price),
  primary key (quote_id, asset_id)
);

-- The basis of an item's price in a quote: the price and the weekly level. `said` has the price that each source gave.
create table quote_price (
  quote_id uuid not null references quote on delete cascade,
  market_hash_name text not null,
  usd_micros bigint not null check (usd_micros > 0),
  level_micros bigint,
  said jsonb not null,
  primary key (quote_id, market_hash_name)
);

-- --------------------------------------------------------------------------------------------------------- trades

-- One attempt of a bot to collect a shopper's items. After a trade is given up its offer may still be accepted, so a
-- deposit can have two delivered trades.
create table trade (
  id bigint generated always as identity primary key,
  deposit_id bigint not null references deposit,
  bot_id bigint not null references bot,
  quote_id uuid not null references quote,
  game text not null,
  -- A part of the offer's message, by which the till recognises its own offers.
  secret_code text not null unique,
  partner_steam_id text not null,
  partner_token text not null,
  state text not null default 'intended' check (state in ('intended', 'sending', 'unknown', 'active', 'refused',
    'abandoned', 'declined', 'countered', 'invalid', 'timed_out', 'held', 'final', 'reversed')),
  -- When the shopper confirmed the items. Further attempts with other bots keep this time.
  intended_at timestamptz not null default till_now(),
  -- Bots that tried the same request before.
  tried_bots bigint[] not null default '{}',
  -- The bot whose offer Steam refused without giving a reason.
  doubted_bot bigint references bot,
  -- Why the trade was refused or ended.
  reason text,
  -- Why Steam refused the offer, or what was found right before the send.
  refusal text check (refusal in ('invalid_token', 'partner_cannot_trade', 'partner_trade_ban', 'bot_cannot_trade',
    'too_many_to_partner', 'too_many_in_all', 'too_many_offers', 'renamed', 'items_gone', 'inventory_full',
    'item_server_down', 'access_denied', 'session_dead', 'rate_limited', 'partner_hold', 'own_hold')),
  -- The next attempt for the same items, with another bot.
  moved_to bigint unique references trade,
  -- The end of Steam's hold on the items of a trade that has ended. Until then they stay reserved.
  steam_hold_until timestamptz,
  -- Why the till cancels the offer, which decides how the trade ends.
  cancelling text check (cancelling in ('deadline', 'needs_confirmation', 'store')),
  currency text not null,
  total bigint not null check (total > 0),
  gross_total bigint not null,
  -- How much of this trade's credit is held.
  held_amount bigint not null default 0,
  -- How much of this trade's credit was reversed.
  reversed_amount bigint not null default 0,
  -- The lease_epoch under which a process last wrote this row.
  lease_epoch bigint not null default 0,
  send_started_at timestamptz,
  -- How many reads of Steam did not find an offer whose send got no answer.
  missed_reads integer not null default 0,
  steam_offer_id text unique,
  -- Steam's id of the trade that the accepted offer became. Unique, so a Steam trade is credited once.
  steam_trade_id text unique,
  -- Until when the shopper can accept the offer. Set once the offer is known to be active.
  deadline timestamptz,
  accepted_at timestamptz,
  -- An end without delivery, shown by a first read of the offer. A second read must confirm it.
  bad_end text,
  bad_end_seen_at timestamptz,
  delivered_at timestamptz,
  settles_at timestamptz,
  -- When Steam is asked, after the settlement, whether the trade was reversed after all.
  last_look_at timestamptz,
  -- The store's settings at delivery. Later changes to them do not affect this trade.
  credit_mode text check (credit_mode in ('on_accept', 'on_release')),
  liability text check (liability in ('operator', 'store')),
  risk_limit_usd_cents bigint,
  -- Credit that counts against the store's risk limit: given before Steam's protection ended, or lost to a reversal.
  at_risk_amount bigint not null default 0,
  -- When lost credit stops counting against the limit.
  at_risk_until timestamptz,
  -- When the trade must next be worked on. Null: nothing is left to do.
  due_at timestamptz,
  created_at timestamptz not null default till_now(),
  ended_at timestamptz,
  check (gross_total >= total),
  check (held_amount between 0 and total),
  check (reversed_amount between 0 and total),
  check (at_risk_amount between 0 and total),
  constraint trade_terms_at_delivery check (
    delivered_at is null or (credit_mode is not null and liability is not null and risk_limit_usd_cents is not null)
  )
);
-- At most one trade of a deposit is open.
create unique index trade_one_open on trade (deposit_id)
  where state in ('intended', 'sending', 'unknown', 'active');
create index trade_of_deposit on trade (deposit_id);
create index trade_due on trade (due_at) where due_at is not null;
create index trade_of_bot on trade (bot_id) where state in ('intended', 'sending', 'unknown', 'active');
-- For the shopper's last delivery: an inventory that was read before it is outdated.
create index trade_of_partner on trade (partner_steam_id);
create index trade_at_risk on trade (deposit_id) where at_risk_amount > 0;

create table trade_item (
  trade_id bigint not null references trade,
  -- The item's id in the shopper's inventory.
  asset_id text not null,
  app_id integer not null,
  context_id text not null,
  name text not null,
  market_hash_name text not null,
  price bigint not null check (price > 0),
  gross bigint not null check (gross >= price),
  -- True while this trade reserves the item: until it has received the item or has ended without it. Items in escrow
  -- stay reserved after the end.
  live boolean not null default true,
  -- The item's id in the bot's inventory.
  received_asset_id text,
  reversed_at timestamptz,
  primary key (trade_id, asset_id)
);
-- An asset is reserved by at most one trade.
create unique index trade_item_one_live on trade_item (app_id, asset_id) where live;

-- --------------------------------------------------------------------------------------------------------- ledger

create table account (
  id bigint generated always as identity primary key,
  -- Null for the operator's own accounts.
  store_id bigint references store,
  -- AccountKind in gateway/db/schema.ts explains the values.
  kind text not null check (kind in ('held', 'available', 'items', 'commission', 'loss', 'paid_out')),
  currency text not null check (currency in ('USD', 'EUR', 'BRL')),
  -- Credits less debits.
  balance bigint not null default 0,
  -- The lowest balance allowed. Null: no limit, as for a store that bears its reversals and may owe money.
  floor bigint,
  unique nulls not distinct (store_id, kind, currency),
  check ((store_id is not null) = (kind in ('held', 'available'))),
  constraint account_floor check (floor is null or balance >= floor)
);

-- Money that the operator paid out to stores.
create table payout (
  id bigint generated always as identity primary key,
  store_id bigint not null references store,
  currency text not null check (currency in ('USD', 'EUR', 'BRL')),
  amount bigint not null check (amount > 0),
  -- The operator's reference. A second payout with the same reference changes nothing if amount and currency are the
  -- same too, and is refused otherwise.
  reference text not null check (length(reference) between 1 and 128),
  created_at timestamptz not null,
  unique (store_id, reference)
);

-- Double entry: a row debits one account and credits another by the same amount, so the ledger always balances.
create table ledger_entry (
  id bigint generated always as identity primary key,
  debit_account bigint not null references account,
  credit_account bigint not null references account,
  amount bigint not null check (amount > 0),
  currency text not null,
  cause text not null
    check (cause in ('delivered', 'commission', 'released', 'reversed', 'commission_reversed', 'paid_out')),
  -- The number of the reversal, if a trade is reversed in several parts. 0 for other causes.
  part integer not null default 0,
  -- Null for a payout, as are quote and rate.
  trade_id bigint references trade,
  quote_id uuid references quote,
  rate_id bigint references exchange_rate,
  payout_id bigint references payout,
  created_at timestamptz not null default till_now(),
  check (debit_account <> credit_account),
  constraint ledger_entry_cause_known check (
    (cause = 'paid_out') = (payout_id is not null) and (cause = 'paid_out') = (trade_id is null)
    and (trade_id is null) = (quote_id is null) and (trade_id is null) = (rate_id is null))
);
-- A trade moves money between two accounts once for each cause and part, so a repeated credit cannot be written.
create unique index ledger_entry_once on ledger_entry (trade_id, cause, part, debit_account, credit_account);
create unique index ledger_entry_payout on ledger_entry (payout_id) where payout_id is not null;
-- For a store's statements, newest first.
create index ledger_entry_debit on ledger_entry (debit_account, id desc);
create index ledger_entry_credit on ledger_entry (credit_account, id desc);
create trigger ledger_entry_append_only before update or delete or truncate on ledger_entry
  for each statement execute function refuse_change();

-- The sum of a store's reversals, so a balance is read from a few rows, however many reversals there are.
create table reversed_total (
  store_id bigint not null references store,
  currency text not null check (currency in ('USD', 'EUR', 'BRL')),
  amount bigint not null check (amount > 0),
  primary key (store_id, currency)
);

-- The ledger of items: every time that an item came to a bot or left one.
create table custody_entry (
  id bigint generated always as identity primary key,
  trade_id bigint not null references trade,
  -- The item's id in the shopper's inventory, and in the bot's.
  asset_id text not null,
  received_asset_id text,
  bot_id bigint not null references bot,
  -- in: the item came to the bot. back: it went back to its shopper. out: it left otherwise.
  moved text not null check (moved in ('in', 'back', 'out')),
  created_at timestamptz not null default till_now(),
  unique (trade_id, asset_id, moved)
);
create index custody_of_bot on custody_entry (bot_id, moved);
create index custody_of_bot_since on custody_entry (bot_id, id);
create trigger custody_entry_append_only before update or delete or truncate on custody_entry
  for each statement execute function refuse_change();

-- ------------------------------------------------------------------------------------------------------- webhooks

-- The events that are reported to stores.
create table event (
  id uuid primary key,
  store_id bigint not null references store,
  deposit_id bigint not null references deposit,
  -- Null for a change of the deposit's status.
  trade_id bigint references trade,
  -- The number of the reversal, if a trade is reversed in several parts. 0 for other events.
  part integer not null default 0,
  type text not null,
  -- The webhook's body, without id and sequence.
  payload jsonb not null,
  created_at timestamptz not null default till_now(),
  -- Assigned under the deposit's lock, so it orders the events of one deposit.
  inserted bigint generated always as identity,
  -- The event's number in the store's log. The publisher assigns it after the event is committed.
  sequence bigint,
  unique (store_id, sequence)
);
-- A deposit has at most one event for each type, trade and part.
create unique index event_once on event (deposit_id, type, trade_id, part) nulls not distinct;
create index event_of_deposit on event (deposit_id, sequence);
create index event_unpublished on event (inserted) where sequence is null;

create table webhook_endpoint (
  id bigint generated always as identity primary key,
  store_id bigint not null references store,
  url text not null check (length(url) <= 2000),
  -- AES-256-GCM, bound to this row and column.
  secret bytea not null,
  -- During a rotation messages are signed with both secrets, until previous_until.
  previous_secret bytea,
  previous_until timestamptz,
  -- Null: all types.
  event_types text[] check (cardinality(event_types) > 0),
  state text not null default 'enabled' check (state in ('enabled', 'disabled')),
  -- gone: the endpoint answered 410.
  disabled_reason text check (disabled_reason in ('by_store', 'gone')),
  created_at timestamptz not null default till_now(),
  check ((previous_secret is null) = (previous_until is null)),
  check ((state = 'disabled') = (disabled_reason is not null))
);
create index webhook_endpoint_of_store on webhook_endpoint (store_id);

-- One row for each event and endpoint.
create table webhook_delivery (
  id bigint generated always as identity primary key,
  event_id uuid not null references event,
  endpoint_id bigint not null references webhook_endpoint,
  state text not null default 'due' check (state in ('due', 'delivered', 'failed')),
  attempts integer not null default 0,
  due_at timestamptz,
  -- The status code of the last attempt, or why it got no answer.
  last_result text,
  delivered_at timestamptz,
  -- Grows whenever a sender claims the delivery, and with a replay, unless the first claim is still to come. An attempt
  -- records its result only if the claim has not changed since.
  claim bigint not null default 0
);
create unique index webhook_delivery_once on webhook_delivery (event_id, endpoint_id);
create index webhook_due_at on webhook_delivery (endpoint_id, due_at) where state = 'due';
-- New deliveries and repeated ones (retries, replays, those of a killed sender) have an index each, so many due
-- deliveries of one kind do not delay the other.
create index webhook_due_first on webhook_delivery (endpoint_id, due_at, id) where state = 'due' and claim = 0;
create index webhook_due_again on webhook_delivery (endpoint_id, attempts, due_at, id)
  where state = 'due' and claim > 0;

create table webhook_attempt (
  id bigint generated always as identity primary key,
  delivery_id bigint not null references webhook_delivery,
  endpoint_id bigint not null references webhook_endpoint,
  attempt integer not null check (attempt > 0),
  at timestamptz not null,
  duration_ms integer not null,
  -- The answer's status, or why there was no answer.
  status integer,
  failure text,
  -- The beginning of the answer's body.
  answer text,
  check ((status is null) <> (failure is null))
);
create index webhook_attempt_of_endpoint on webhook_attempt (endpoint_id, id desc);
create index webhook_attempt_of_delivery on webhook_attempt (delivery_id);

-- ----------------------------------------------------------------------------------------------------- operations

-- What operators did. A row is written in the transaction of the change itself.
create table operator_act (
  id bigint generated always as identity primary key,
  at timestamptz not null,
  operator text not null check (length(operator) between 1 and 80),
  -- Such as "bot remove".
  act text not null check (length(act) between 1 and 80),
  -- Secrets are left out.
  arguments jsonb not null,
  reason text check (length(reason) between 1 and 500)
);
create index operator_act_by_act on operator_act (act, id desc);
create index operator_act_by_operator on operator_act (operator, id desc);
create trigger operator_act_append_only before update or delete or truncate on operator_act
  for each statement execute function refuse_change();
