-- oldest version: 0.3.0
-- Compares the bots' inventories on Steam with custody. Also: shoppers whose deliveries are credited only on release,
-- because they reversed a trade.

-- When each bot's own inventory is read, to compare it with the books.
create table custody_look (
  bot_id bigint primary key references bot,
  -- When the next read is due.
  due_at timestamptz not null,
  -- When an operator asked for a read.
  asked_at timestamptz,
  -- The end of the last read that showed any items, and of the last one that showed the whole inventory.
  looked_at timestamptz,
  whole_at timestamptz,
  -- How many foreign items (see custody_drift) have no row in custody_drift, because there are too many.
  left_out integer not null default 0
);
create index custody_look_due on custody_look (due_at);

-- The differences from the books that the last read found. The next read replaces them. missing: only the books have
-- the item. foreign: only the inventory has it. unnamed: Steam never gave its asset id.
create table custody_drift (
  id bigint generated always as identity primary key,
  bot_id bigint not null references bot,
  kind text not null check (kind in ('missing', 'foreign', 'unnamed')),
  app_id integer not null,
  -- The item in the books: its trade, and its id in the shopper's inventory.
  trade_id bigint references trade,
  given_asset_id text,
  -- The item's id in the bot's inventory, or the one that it should have there.
  asset_id text,
  market_hash_name text not null,
  first_seen_at timestamptz not null,
  seen_at timestamptz not null,
  -- How many reads in a row found the difference.
  looks integer not null,
  -- settleDrift in gateway/drift/drift.ts decides.
  is_sure boolean not null,
  check ((kind = 'foreign') = (trade_id is null)),
  check ((trade_id is null) = (given_asset_id is null))
);
create index custody_drift_of_bot on custody_drift (bot_id);
create index custody_drift_of_trade on custody_drift (trade_id) where trade_id is not null;

-- Asset ids that Steam did not report when the items came, and that were found in the bot's inventory later.
create table learnt_asset (
  custody_entry_id bigint primary key references custody_entry,
  received_asset_id text not null,
  learnt_at timestamptz not null
);
create index learnt_asset_of_received on learnt_asset (received_asset_id);

-- Items that the operator's accounts sent back to a bot. They may be read before the departures in which they had left.
create table sent_back_item (
  bot_id bigint not null references bot,
  steam_trade_id text not null,
  app_id integer not null,
  -- The item's id in its sender's inventory, and in the bot's.
  asset_id text not null,
  received_asset_id text not null,
  seen_at timestamptz not null default till_now(),
  primary key (bot_id, steam_trade_id, app_id, asset_id)
);
create index sent_back_asset on sent_back_item (asset_id);

-- Steam accounts that reversed a trade. Their deliveries are credited on release, whatever the store's setting, until
-- an operator trusts the account, which deletes the row.
create table careful_shopper (
  steam_id text primary key,
  since timestamptz not null,
  -- The last trade that the account reversed. `reversals` counts all of its reversals.
  trade_id bigint not null references trade,
  last_at timestamptz not null,
  reversals integer not null default 1
);
create index careful_shopper_of_trade on careful_shopper (trade_id);
