-- oldest version: 0.3.0
-- How many items of ours a bot has, by game. Like bot.items_held, it saves reading a year of custody to show one bot.
create table bot_games (
  bot_id bigint primary key references bot,
  -- Numbers of items by Steam's app id: {"730": 12}
  items jsonb not null default '{}',
  -- The last custody entry that `items` includes. A reader adds the later ones.
  counted_to bigint not null default 0
);

-- How fast the pages were for shoppers, by day. It holds no personal data.
create table page_vital (
  -- The beginning of the day, in UTC.
  day timestamptz not null,
  screen text not null,
  device text not null check (device in ('phone', 'computer')),
  metric text not null,
  -- Each bucket ends 15 percent above the one before (gateway/vitals/vitals.ts).
  bucket integer not null,
  -- How many pages had a measurement in this bucket.
  pages integer not null,
  primary key (day, screen, device, metric, bucket)
);
