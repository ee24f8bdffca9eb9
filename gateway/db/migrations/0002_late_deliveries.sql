-- A trade whose offer was given up may still be delivered, beside another trade of the same deposit.

-- What of the trade is held: a deposit may have been credited by more than one trade.
alter table trade add column held_amount bigint not null default 0 check (held_amount between 0 and total);
update trade set held_amount = deposit.held_amount
from deposit where deposit.id = trade.deposit_id and trade.state = 'held';

-- Only one trade of a deposit may be open; those that were delivered stay beside it.
drop index trade_one_live;
create unique index trade_one_open on trade (deposit_id)
  where state in ('intended', 'sending', 'unknown', 'active');
create index trade_of_deposit on trade (deposit_id);

-- Events that may come once for each trade name it.
alter table event add column trade_id bigint references trade;
alter table event drop constraint event_deposit_id_type_key;
create unique index event_once on event (deposit_id, type, trade_id) nulls not distinct;

-- What the sweeps look for.
create index inventory_request_old on inventory_request (created_at);
create index quote_old on quote (expires_at);

-- Whether an inventory was read before the shopper's last delivery.
create index trade_of_partner on trade (partner_steam_id);
