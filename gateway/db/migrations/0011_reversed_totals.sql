-- What was taken back of a store in all, so that its balance is read from a few rows however many were reversed.
create table reversed_total (
  store_id bigint not null references store,
  currency text not null check (currency in ('USD', 'EUR', 'BRL')),
  amount bigint not null check (amount > 0),
  primary key (store_id, currency)
);
insert into reversed_total (store_id, currency, amount)
select store_id, currency, sum(reversed_amount) from deposit where reversed_amount > 0 group by store_id, currency;
-- Only the sum that is kept now was read from it.
drop index deposit_reversed;
