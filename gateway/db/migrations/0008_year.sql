-- oldest version: 0.3.0
-- Keeps the cost of the till's work the same, however many years of rows the tables hold.

-- --------------------------------------------------------------------------------------------------------- sweeps

-- The time up to which a sweep has checked rows that it leaves in place, so it does not read them again.
create table sweep_place (
  sweep text primary key,
  up_to timestamptz not null
);

-- References that had no index. With one, deleting a row does not read the whole table that refers to it.
create index inventory_request_bot on inventory_request (bot_id);
create index quote_rate on quote (rate_id);
-- Also finds a bot's trade partners since a time.
create index trade_bot_created on trade (bot_id, created_at);
create index trade_doubted_bot on trade (doubted_bot) where doubted_bot is not null;
create index ledger_entry_rate on ledger_entry (rate_id) where rate_id is not null;
create index event_trade on event (trade_id) where trade_id is not null;
create index webhook_delivery_endpoint on webhook_delivery (endpoint_id, id);

-- ----------------------------------------------------------------------------------------------- credit at risk

-- How much of its risk limit a store has used: one row, however many trades it has. No row: nothing.
create table credit_at_risk (
  store_id bigint primary key references store,
  usd_cents bigint not null check (usd_cents >= 0)
);

-- The part of that credit that reversals took, by trade. A row exists as long as its amount counts against the limit.
create table lost_credit (
  trade_id bigint primary key references trade,
  store_id bigint not null references store,
  usd_cents bigint not null check (usd_cents > 0),
  until timestamptz not null
);
create index lost_credit_of_store on lost_credit (store_id);
-- For the sweep that deletes what no longer counts.
create index lost_credit_over on lost_credit (until);

insert into lost_credit (trade_id, store_id, usd_cents, until)
select trade.id, deposit.store_id, ceil(trade.at_risk_amount / rate.per_usd), trade.at_risk_until
from trade
join deposit on deposit.id = trade.deposit_id
join quote on quote.id = trade.quote_id
join exchange_rate rate on rate.id = quote.rate_id
where trade.at_risk_amount > 0 and trade.state <> 'held' and trade.at_risk_until is not null;

insert into credit_at_risk (store_id, usd_cents)
select store_id, sum(usd_cents) from (
  select deposit.store_id, ceil(trade.at_risk_amount / rate.per_usd) as usd_cents
  from trade
  join deposit on deposit.id = trade.deposit_id
  join quote on quote.id = trade.quote_id
  join exchange_rate rate on rate.id = quote.rate_id
  where trade.at_risk_amount > 0 and trade.state = 'held'
  union all select store_id, usd_cents from lost_credit
) taken group by store_id;

-- credit_at_risk replaces it.
drop index trade_at_risk;

-- ----------------------------------------------------------------------------------------- check of the ledger

-- How far the check of the ledger has come. One process at a time runs it.
create table ledger_check (
  only_row boolean primary key default true check (only_row),
  -- Until when a process has the check to itself, by the clock of the database's machine, as for leases.
  taken_until timestamptz,
  -- When a check of the whole ledger last began, and when one last ended.
  begun_at timestamptz,
  complete_at timestamptz,
  -- How many differences the last complete check found, together with the checks of newer entries since then.
  differences integer not null default 0 check (differences >= 0),
  -- The newest entry that was checked.
  verified_entry bigint not null default 0
);
insert into ledger_check default values;

-- The balance of each account after the entry ledger_check.verified_entry.
create table verified_balance (
  account_id bigint primary key references account,
  balance bigint not null
);
