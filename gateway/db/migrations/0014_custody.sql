-- oldest version: 0.3.0
-- Items that leave a bot are read from its trade history on Steam.

-- Since when the till looks for departures. The operator recorded earlier ones by hand.
alter table bot add column watched_from timestamptz not null default till_now();

-- A Steam trade in which a bot gave items.
create table departure (
  id bigint generated always as identity primary key,
  bot_id bigint not null references bot,
  steam_trade_id text not null,
  partner_steam_id text not null,
  begun_at timestamptz not null,
  -- Stage and Explanation in gateway/departures/departure.ts explain the values of the next two columns.
  stage text not null check (stage in ('under_way', 'gone', 'called_off', 'returned')),
  -- Why the items were allowed to leave. Null raises an alarm.
  explanation text check (explanation in ('destination', 'own_bot', 'moved', 'operator')),
  destination text,
  seen_at timestamptz not null default till_now(),
  unique (bot_id, steam_trade_id),
  check ((explanation = 'destination') = (destination is not null))
);
create index departure_unexplained on departure (bot_id) where explanation is null;
create index departure_under_way on departure (bot_id, id) where stage = 'under_way';

create table departed_item (
  departure_id bigint not null references departure,
  app_id integer not null,
  context_id text not null,
  -- The item's id in the bot's inventory, and in its new owner's.
  asset_id text not null,
  new_asset_id text,
  is_back boolean not null default false,
  -- Whether a custody entry records that the item left.
  is_booked boolean not null default false,
  primary key (departure_id, app_id, asset_id)
);
create index departed_item_of_new on departed_item (new_asset_id) where not is_back;
create index departed_item_unbooked on departed_item (departure_id) where not is_booked and not is_back;

-- The departure that caused the entry. An item that came back can leave again, by another departure.
alter table custody_entry add column departure_id bigint references departure;
alter table custody_entry drop constraint custody_entry_trade_id_asset_id_moved_key;
create unique index custody_moved_once on custody_entry (trade_id, asset_id, moved) where departure_id is null;
create unique index custody_departed_once on custody_entry (departure_id, trade_id, asset_id, bot_id, moved)
  where departure_id is not null;
create index custody_of_item on custody_entry (trade_id, asset_id, id);
create index custody_of_received on custody_entry (received_asset_id, bot_id) where moved = 'in';
