-- oldest version: 0.3.0
-- without a transaction
-- For the operator's list of deposits of all stores, largest credit first.
create index concurrently if not exists deposit_by_amount on deposit (currency, credited_amount desc, id desc)
  where credited_amount is not null;
