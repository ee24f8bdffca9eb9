-- oldest version: 0.3.0
-- How many calls to Steam were made for a bot, and how many Steam refused because there were too many.
create table bot_calls (
  bot_id bigint not null references bot,
  -- The beginning of five minutes, by the machine's clock, as budgets count.
  since timestamptz not null,
  asked integer not null default 0,
  -- Steam answered 429.
  limited integer not null default 0,
  failed integer not null default 0,
  -- Our own limits kept the call from Steam.
  held_back integer not null default 0,
  primary key (bot_id, since)
);
