-- oldest version: 0.3.0
-- For the operator: searches, each with an index; a store's own commission and games, and when it was disabled; voided
-- payouts, adjustments and price overrides.

-- ----------------------------------------------------------------------------------------------------------- names

-- The words of a name, without case and punctuation. The function calls only functions of pg_catalog, so a restore can
-- build the indexes that use it.
create function name_words(name text) returns tsvector language sql immutable strict parallel safe as $$
  select to_tsvector('simple'::regconfig, translate(lower(name),
    '-_.,:;/\|()[]{}<>#&@+*=!?"''`´’‘“”„«»–—…™★®', repeat(' ', 60)))
$$;

create index store_words on store using gin (name_words(name));
create index bot_words on bot using gin (name_words(name));
create index price_words on price using gin (name_words(market_hash_name));

-- -------------------------------------------------------------------------------------------------------- deposits

-- For the lists over all stores.
create index deposit_newest on deposit (created_at desc, id desc);
create index deposit_newest_of_status on deposit (status, created_at desc, id desc);
create index deposit_external on deposit (external_id, id);
-- The erasure of an account uses these two indexes as well.
create index deposit_of_user on deposit (user_steam_id, id) where user_steam_id is not null;
create index deposit_of_shopper on deposit (shopper_steam_id, id) where shopper_steam_id is not null;

-- ----------------------------------------------------------------------------------------------------------- items

create index trade_item_asset on trade_item (asset_id, trade_id);
create index trade_item_named on trade_item (market_hash_name, trade_id);
create index departed_item_new on departed_item (new_asset_id) where new_asset_id is not null;
create index departure_steam_trade on departure (steam_trade_id);

-- ---------------------------------------------------------------------------------------------------------- stores

-- The commission on the store's deposits, in hundredths of a percent. Null: the general setting.
alter table store add column commission_bps integer check (commission_bps between 0 and 9000);
-- Null: all games.
alter table store add column games text[]
  check (cardinality(games) between 1 and 4 and games <@ array['cs', 'dota', 'rust', 'tf']);
-- When the operator disabled the store. Since then it can open no deposit and accept no items. Open trades continue.
alter table store add column disabled_at timestamptz;

-- ----------------------------------------------------------------------------------------------------------- money

-- A payout that failed, or was recorded by mistake. Its amount is available to the store again.
create table payout_void (
  payout_id bigint primary key references payout,
  created_at timestamptz not null
);
create trigger payout_void_append_only before update or delete or truncate on payout_void
  for each statement execute function refuse_change();

-- Changes of a store's balance by the operator. A write-off cancels what the store owes.
create table adjustment (
  id bigint generated always as identity primary key,
  store_id bigint not null references store,
  currency text not null check (currency in ('USD', 'EUR', 'BRL')),
  kind text not null check (kind in ('credit', 'debit', 'write_off')),
  amount bigint not null check (amount > 0),
  -- The operator's reference. A second adjustment with the same reference is not booked.
  reference text not null check (length(reference) between 1 and 128),
  created_at timestamptz not null,
  unique (store_id, reference)
);
create trigger adjustment_append_only before update or delete or truncate on adjustment
  for each statement execute function refuse_change();

-- The lists of kinds and causes only grow, so the existing rows need no check (not valid).
alter table account drop constraint account_kind_check;
alter table account add constraint account_kind_check
  check (kind in ('held', 'available', 'items', 'commission', 'loss', 'paid_out', 'adjustments')) not valid;
alter table ledger_entry add column adjustment_id bigint references adjustment;
alter table ledger_entry drop constraint ledger_entry_cause_check;
alter table ledger_entry add constraint ledger_entry_cause_check
  check (cause in ('delivered', 'commission', 'released', 'reversed', 'commission_reversed', 'paid_out', 'payout_voided',
    'adjusted', 'written_off')) not valid;
alter table ledger_entry drop constraint ledger_entry_cause_known;
alter table ledger_entry add constraint ledger_entry_cause_known check (
  (cause in ('paid_out', 'payout_voided')) = (payout_id is not null)
  and (cause in ('adjusted', 'written_off')) = (adjustment_id is not null)
  and (trade_id is null) = (payout_id is not null or adjustment_id is not null)
  and (trade_id is null) = (quote_id is null) and (trade_id is null) = (rate_id is null)) not valid;
drop index ledger_entry_payout;
create unique index ledger_entry_payout_once on ledger_entry (payout_id, cause) where payout_id is not null;
create unique index ledger_entry_adjustment on ledger_entry (adjustment_id) where adjustment_id is not null;
-- For a store's reports of a period.
create index ledger_entry_debit_at on ledger_entry (debit_account, created_at);
create index ledger_entry_credit_at on ledger_entry (credit_account, created_at);

-- -------------------------------------------------------------------------------------------------------- webhooks

-- Deliveries that were given up.
create index webhook_given_up on webhook_delivery (endpoint_id, id) where state = 'failed';

-- ---------------------------------------------------------------------------------------------------------- prices

-- override: the operator sets the price. A market_hash_name with `*` is a pattern.
alter table price_hold drop constraint price_hold_kind_check;
alter table price_hold add constraint price_hold_kind_check check (kind in ('blocked', 'frozen', 'override'));
-- The price of an override, before commission.
alter table price_hold add column usd_micros bigint check (usd_micros > 0);
alter table price_hold add check ((kind = 'override') = (usd_micros is not null));
-- The pattern in the syntax of LIKE.
alter table price_hold add column like_pattern text;
alter table price_hold add check ((like_pattern is not null) = coalesce(position('*' in market_hash_name) > 0, false));
