-- oldest version: 0.3.0
-- without a transaction
-- Trades that are open or still watched, the oldest first: the operator's list would read all that ended before them.
create index concurrently if not exists trade_unsettled on trade (id)
  where due_at is not null or state in ('intended', 'sending', 'unknown', 'active', 'held');
