-- What does not work right now. A row exists while its outage lasts.
create table outage (
  kind text primary key check (kind in (
    -- Offers cannot be sent or read by any bot.
    'offers',
    -- Inventories cannot be read by any bot.
    'inventories',
    -- The operator's flag.
    'maintenance',
    -- One of these lasts: the time of deposits stands still.
    'deposits')),
  since timestamptz not null
);

-- Since when a bot meets nothing but failures, by capability; null where it works.
alter table bot add column if not exists offers_failing_since timestamptz;
alter table bot add column if not exists inventories_failing_since timestamptz;
