-- oldest version: 0.3.0
-- without a transaction
-- For the operator's list of one store's deposits, largest credit first.
create index concurrently if not exists deposit_by_store_and_amount
  on deposit (store_id, currency, credited_amount desc, id desc) where credited_amount is not null;
