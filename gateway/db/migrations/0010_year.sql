-- oldest version: 0.3.0
-- What keeps the cost of a step the same however many years the tables hold.

-- --------------------------------------------------------------------------------------------------------- sweeps

-- How far a sweep has looked that leaves rows in place: it does not look at them again.
create table sweep_place (
  sweep text primary key,
  up_to timestamptz not null
);

-- An index behind every reference: a row can then be deleted, and the rows that name it found, without reading a table.
create index inventory_request_bot on inventory_request (bot_id);
create index quote_rate on quote (rate_id);
-- Also the partners of a bot since a time.
create index trade_bot_created on trade (bot_id, created_at);
create index trade_doubted_bot on trade (doubted_bot) where doubted_bot is not null;
create index ledger_entry_rate on ledger_entry (rate_id) where rate_id is not null;
create index event_trade on event (trade_id) where trade_id is not null;
create index webhook_delivery_endpoint on webhook_delivery (endpoint_id, id);
