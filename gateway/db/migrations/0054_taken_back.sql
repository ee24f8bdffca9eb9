-- oldest version: 0.2.0
-- without a transaction
-- For the count and the list of the accounts that took items back last.
create index concurrently if not exists careful_shopper_last on careful_shopper (last_at);
