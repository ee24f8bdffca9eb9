-- oldest version: 0.3.0
-- How much one link may take of what all share: quotes, trade links and looks at inventories.

-- ---------------------------------------------------------------------------------------------------------- quotes

-- The account whose items were priced. Null in a quote from before this column.
alter table quote add column steam_id text;
-- A quote is deleted once no trade names it; without these each would read both tables whole.
create index trade_quote on trade (quote_id);
create index ledger_entry_quote on ledger_entry (quote_id) where quote_id is not null;

-- ------------------------------------------------------------------------------------------- links and inventories

-- Trade links that a deposit was given of late. Only their hash: a token is a secret of its shopper.
create table deposit_link (
  deposit_id bigint not null references deposit,
  link_sha256 bytea not null,
  given_at timestamptz not null,
  primary key (deposit_id, link_sha256)
);
-- For the sweep.
create index deposit_link_old on deposit_link (given_at);

-- The deposit whose page asked. Null in a request from before this column.
alter table inventory_request add column deposit_id bigint references deposit;
-- Its shopper pressed "reload": only a read of the last seconds will do.
alter table inventory_request add column is_reload boolean not null default false;
create index inventory_request_deposit on inventory_request (deposit_id, created_at);
