-- oldest version: 0.2.0
-- The deposit in the answer that is kept under an Idempotency-Key, so the answer can be erased with its shopper. Null if
-- the answer has no deposit, or was written by an earlier version. It names no table, because a reference would lock the
-- deposit until the answer is stored.
alter table idempotency_key add column deposit_id bigint;
