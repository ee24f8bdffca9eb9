-- oldest version: 0.3.0
-- Items in a bot's hands by game, counted as items_held is: a year of custody is not read to show one bot.
create table bot_games (
  bot_id bigint primary key references bot,
  -- Numbers of items by Steam's app id: {"730": 12}
  items jsonb not null default '{}',
  -- The custody entries up to this one are in items. A reader adds what came after it.
  counted_to bigint not null default 0
);
