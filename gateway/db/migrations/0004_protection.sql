-- Trades that their sender takes back, who bears that, and where every item is.

alter table store
  -- Who loses what was credited for a trade that is taken back.
  add column liability text not null default 'operator' check (liability in ('operator', 'store'));

alter table trade drop constraint trade_state_check;
alter table trade add constraint trade_state_check check (state in ('intended', 'sending', 'unknown', 'active',
  'refused', 'abandoned', 'declined', 'countered', 'invalid', 'timed_out', 'held', 'final', 'reversed'));
-- Once more after the settlement Steam is asked whether the trade still stands.
alter table trade add column last_look_at timestamptz;
-- Why our own cancel was sent; it decides what a cancelled offer means.
alter table trade add column cancelling text check (cancelling in ('deadline', 'escrow', 'needs_confirmation', 'store'));
update trade set cancelling = reason, reason = null
where state = 'active' and reason in ('deadline', 'escrow', 'needs_confirmation');

-- What of the credit was taken back with the items.
alter table trade add column reversed_amount bigint not null default 0 check (reversed_amount between 0 and total);
alter table trade_item add column reversed_at timestamptz;
alter table deposit add column reversed_amount bigint not null default 0 check (reversed_amount >= 0);

-- When the bot's history of trades was last looked through for reversals.
alter table bot add column history_at timestamptz;

-- A store that bears reversals itself may owe; what is held never falls below zero.
alter table account drop constraint account_check1;
alter table account add column floor bigint;
update account set floor = 0 where store_id is not null;
alter table account add constraint account_floor check (floor is null or balance >= floor);

alter table ledger_entry drop constraint ledger_entry_cause_check;
alter table ledger_entry add constraint ledger_entry_cause_check
  check (cause in ('delivered', 'commission', 'released', 'reversed', 'commission_reversed', 'paid_out'));
-- Which of several reversals of one trade; 0 for all else.
alter table ledger_entry add column part integer not null default 0;
alter table ledger_entry drop constraint ledger_entry_trade_id_cause_debit_account_credit_account_key;
create unique index ledger_entry_once on ledger_entry (trade_id, cause, part, debit_account, credit_account);

alter table event add column part integer not null default 0;
drop index event_once;
create unique index event_once on event (deposit_id, type, trade_id, part) nulls not distinct;

-- Every change of an item's hands, append-only: the ledger of items.
create table custody_entry (
  id bigint generated always as identity primary key,
  trade_id bigint not null references trade,
  -- The item as the shopper had it, and as the bot got it.
  asset_id text not null,
  received_asset_id text,
  bot_id bigint not null references bot,
  moved text not null check (moved in ('in', 'back', 'out')),
  created_at timestamptz not null default now(),
  unique (trade_id, asset_id, moved)
);
create trigger custody_entry_append_only before update or delete or truncate on custody_entry
  for each statement execute function refuse_change();
insert into custody_entry (trade_id, asset_id, received_asset_id, bot_id, moved, created_at)
select trade.id, item.asset_id, item.received_asset_id, trade.bot_id, 'in', trade.delivered_at
from trade join trade_item item on item.trade_id = trade.id where trade.delivered_at is not null;
