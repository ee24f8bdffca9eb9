-- oldest version: 0.3.0
-- without a transaction
-- For the operator's list of trades that are open or still watched, oldest first. Without this index the list reads
-- all trades that ended before them.
create index concurrently if not exists trade_unsettled on trade (id)
  where due_at is not null or state in ('intended', 'sending', 'unknown', 'active', 'held');
