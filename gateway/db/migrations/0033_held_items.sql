-- oldest version: 0.3.0
-- The items that the bots have. A wish, a check for drift and an export read these rows instead of years of custody.
create table held_item (
  -- The entry of the item's latest arrival at the bot.
  custody_entry_id bigint primary key references custody_entry,
  bot_id bigint not null references bot,
  trade_id bigint not null references trade,
  asset_id text not null,
  unique (trade_id, asset_id)
);
create index held_item_of_bot on held_item (bot_id, custody_entry_id);

-- At most one row. counted_to: the last custody entry that held_item includes. A reader adds the later ones.
create table held_items_mark (
  one boolean primary key default true check (one),
  counted_to bigint not null default 0
);
