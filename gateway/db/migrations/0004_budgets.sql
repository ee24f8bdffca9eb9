-- What one link may take of what all share: quotes.

-- ---------------------------------------------------------------------------------------------------------- quotes

-- The account whose items were priced. Null in a quote from before this column.
alter table quote add column steam_id text;
-- A quote is deleted once no trade names it; without these each would read both tables whole.
create index trade_quote on trade (quote_id);
create index ledger_entry_quote on ledger_entry (quote_id) where quote_id is not null;
