-- oldest version: 0.3.0
-- The calls to Steam of the last day, by method and bot: which are slow or refused, and for which bot.
create table steam_calls (
  -- The beginning of the hour, by the machine's clock, as for budgets.
  hour timestamptz not null,
  method text not null,
  -- Null: calls for public pages, which need no account.
  bot_id bigint references bot,
  asked integer not null default 0,
  -- Steam answered 429.
  limited integer not null default 0,
  failed integer not null default 0,
  -- Calls that were not made, because of our own limits.
  held_back integer not null default 0,
  -- The duration of all calls together.
  total_ms bigint not null default 0,
  longest_ms integer not null default 0,
  unique nulls not distinct (bot_id, method, hour)
);
create index steam_calls_of_hour on steam_calls (hour, method);
