-- oldest version: 0.3.0
-- The calls to Steam of a day, by method and bot: which call is slow or refused, and for whom.
create table steam_calls (
  -- The beginning of an hour, by the machine's clock, as budgets count.
  hour timestamptz not null,
  method text not null,
  -- Null: public pages, which need no account.
  bot_id bigint references bot,
  asked integer not null default 0,
  -- Steam answered 429.
  limited integer not null default 0,
  failed integer not null default 0,
  -- Our own limits kept the call from Steam.
  held_back integer not null default 0,
  -- Of all that were asked.
  total_ms bigint not null default 0,
  longest_ms integer not null default 0,
  unique nulls not distinct (bot_id, method, hour)
);
create index steam_calls_of_hour on steam_calls (hour, method);
