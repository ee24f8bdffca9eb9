-- oldest version: 0.3.0
-- The items in the bots' hands, counted as bot_games is: a wish, a look for drift and an export read as many rows as there
-- are items, and not the custody of years.
create table held_item (
  -- The entry by which the item came last.
  custody_entry_id bigint primary key references custody_entry,
  bot_id bigint not null references bot,
  trade_id bigint not null references trade,
  asset_id text not null,
  unique (trade_id, asset_id)
);
create index held_item_of_bot on held_item (bot_id, custody_entry_id);

-- One row at most: the custody entries up to this one are in held_item. A reader adds what came after it.
create table held_items_mark (
  one boolean primary key default true check (one),
  counted_to bigint not null default 0
);
