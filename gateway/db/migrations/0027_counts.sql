-- oldest version: 0.3.0
-- Items in a bot's hands by game, counted as items_held is: a year of custody is not read to show one bot.
create table bot_games (
  bot_id bigint primary key references bot,
  -- Numbers of items by Steam's app id: {"730": 12}
  items jsonb not null default '{}',
  -- The custody entries up to this one are in items. A reader adds what came after it.
  counted_to bigint not null default 0
);

-- How quick the pages were for shoppers, by day. Nothing about anybody is in it.
create table page_vital (
  -- Its beginning, in UTC.
  day timestamptz not null,
  screen text not null,
  device text not null check (device in ('phone', 'computer')),
  metric text not null,
  -- Each is 15 percent wider than the one before: see gateway/vitals/vitals.ts.
  bucket integer not null,
  pages integer not null,
  primary key (day, screen, device, metric, bucket)
);
