-- oldest version: 0.3.0
-- How many calls to Steam a bot made, and how many of them failed.
create table bot_calls (
  bot_id bigint not null references bot,
  -- The beginning of an interval of five minutes, by the machine's clock, as for budgets.
  since timestamptz not null,
  asked integer not null default 0,
  -- Steam answered 429.
  limited integer not null default 0,
  failed integer not null default 0,
  -- Calls that were not made, because of our own limits.
  held_back integer not null default 0,
  primary key (bot_id, since)
);
