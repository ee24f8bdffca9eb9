-- oldest version: 0.3.0
-- Limits how much one deposit may use of what all deposits share: quotes, trade links and reads of inventories.

-- ---------------------------------------------------------------------------------------------------------- quotes

-- The account whose items were priced. Null in a quote from before this column.
alter table quote add column steam_id text;
-- A quote is deleted once no trade or ledger entry refers to it. Without these indexes, that check reads both
-- tables.
create index trade_quote on trade (quote_id);
create index ledger_entry_quote on ledger_entry (quote_id) where quote_id is not null;

-- ------------------------------------------------------------------------------------------- links and inventories

-- Trade links that were recently given for a deposit. Only their hash is kept, because a link's token is the shopper's
-- secret.
create table deposit_link (
  deposit_id bigint not null references deposit,
  link_sha256 bytea not null,
  given_at timestamptz not null,
  primary key (deposit_id, link_sha256)
);
-- For the deletion of old links.
create index deposit_link_old on deposit_link (given_at);

-- The deposit for which the inventory is read. Null in a request from before this column.
alter table inventory_request add column deposit_id bigint references deposit;
-- The shopper pressed "reload", so an answer that is older than a few seconds is not used.
alter table inventory_request add column is_reload boolean not null default false;
create index inventory_request_deposit on inventory_request (deposit_id, created_at);
