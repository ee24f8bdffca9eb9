-- oldest version: 0.3.0
-- without a transaction
-- The credits of one store by their size, for an operator's list.
create index concurrently if not exists deposit_by_store_and_amount
  on deposit (store_id, currency, credited_amount desc, id desc) where credited_amount is not null;
