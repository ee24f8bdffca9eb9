-- oldest version: 0.3.0
-- What a bot has on Steam, held against custody, and shoppers who are credited late because they took items back.

-- The looks at a bot's own inventory.
create table custody_look (
  bot_id bigint primary key references bot,
  -- When the bot's turn comes.
  due_at timestamptz not null,
  -- When an operator asked for a look.
  asked_at timestamptz,
  -- When the last look ended that showed anything, and the last one that showed all.
  looked_at timestamptz,
  whole_at timestamptz,
  -- Foreign items beyond those that are kept.
  left_out integer not null default 0
);
create index custody_look_due on custody_look (due_at);

-- What a look found that is not as the books say. The next one replaces it.
create table custody_drift (
  id bigint generated always as identity primary key,
  bot_id bigint not null references bot,
  kind text not null check (kind in ('missing', 'foreign', 'unnamed')),
  app_id integer not null,
  -- The item in the books: its trade, and its asset id as its shopper had it.
  trade_id bigint references trade,
  given_asset_id text,
  -- As the bot has it, or should have it.
  asset_id text,
  market_hash_name text not null,
  first_seen_at timestamptz not null,
  seen_at timestamptz not null,
  looks integer not null,
  is_sure boolean not null,
  check ((kind = 'foreign') = (trade_id is null)),
  check ((trade_id is null) = (given_asset_id is null))
);
create index custody_drift_of_bot on custody_drift (bot_id);
create index custody_drift_of_trade on custody_drift (trade_id) where trade_id is not null;

-- Asset ids that Steam did not tell when the items came, found in the bot's inventory later.
create table learnt_asset (
  custody_entry_id bigint primary key references custody_entry,
  received_asset_id text not null,
  learnt_at timestamptz not null
);
create index learnt_asset_of_received on learnt_asset (received_asset_id);

-- What accounts of the operator sent to a bot. The departures of these items may become known later.
create table sent_back_item (
  bot_id bigint not null references bot,
  steam_trade_id text not null,
  app_id integer not null,
  -- As its sender had it, and as the bot has it.
  asset_id text not null,
  received_asset_id text not null,
  seen_at timestamptz not null default till_now(),
  primary key (bot_id, steam_trade_id, app_id, asset_id)
);
create index sent_back_asset on sent_back_item (asset_id);

-- Steam accounts that took a trade back. Their next deliveries are credited on release, whatever the store says.
create table careful_shopper (
  steam_id text primary key,
  since timestamptz not null,
  -- The last trade that they took back, and how many there were.
  trade_id bigint not null references trade,
  last_at timestamptz not null,
  reversals integer not null default 1
);
create index careful_shopper_of_trade on careful_shopper (trade_id);
