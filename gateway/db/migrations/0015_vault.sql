-- oldest version: 0.3.0
-- The till's wishes to the vault, and what the vault did for each.

create table wish (
  id bigint generated always as identity primary key,
  -- `send`: to a destination of the vault's own list. `return`: to the shopper who deposited the items.
  kind text not null check (kind in ('send', 'return')),
  bot_id bigint not null references bot,
  destination text,
  deposit_id bigint references deposit,
  -- The Steam trade that brought the items of the deposit.
  steam_trade_id text,
  asked_by text not null check (asked_by in ('operator', 'rule')),
  created_at timestamptz not null default till_now(),
  -- When the wish was closed: the vault had finished with it, or it was withdrawn.
  closed_at timestamptz,
  check ((kind = 'send') = (destination is not null)),
  check ((kind = 'return') = (deposit_id is not null and steam_trade_id is not null))
);
create index wish_open on wish (id) where closed_at is null;
create index wish_of_bot on wish (bot_id);
create index wish_of_deposit on wish (deposit_id) where deposit_id is not null;

create table wish_item (
  wish_id bigint not null references wish,
  app_id integer not null,
  context_id text not null,
  asset_id text not null,
  -- Whether the wish is open.
  is_open boolean not null default true,
  primary key (wish_id, app_id, asset_id)
);
-- An item is in at most one open wish.
create unique index wish_item_once on wish_item (app_id, asset_id) where is_open;

-- What the vault did for each wish. If the till has two roles, only the vault's role may write it
-- (gateway/db/roles.ts).
create table vault_deed (
  wish_id bigint primary key references wish,
  -- VaultDeedTable in gateway/db/vault-tables.ts explains the values.
  state text not null check (state in ('waiting', 'refused', 'intended', 'offered', 'delivered', 'ended')),
  -- Why the vault waits or refuses, or why the gift ended.
  because text,
  partner_steam_id text,
  -- The items that the vault gives, as `app/asset`, sorted.
  assets text[] not null,
  offer_id text,
  steam_trade_id text,
  at timestamptz not null
);
create index vault_deed_to on vault_deed (partner_steam_id) where partner_steam_id is not null;

-- Each bot keeps its newest `keep` free items. The older ones are sent to the destination.
create table send_rule (
  only_row boolean primary key default true check (only_row),
  destination text not null,
  keep integer not null check (keep between 0 and 100000),
  set_at timestamptz not null default till_now()
);

-- 'vault': the vault made the trade.
alter table departure drop constraint departure_explanation_check;
alter table departure add constraint departure_explanation_check
  check (explanation in ('destination', 'own_bot', 'moved', 'operator', 'vault'));
