-- oldest version: 0.3.0
-- What a shopper is told of the money before the offer is accepted, and what keeps it true.

-- Of a trade that Steam lets its sender take back: what is credited at once, at the least, and for how many days the
-- rest is held. While the offer is open, the promise takes room in the store's limit.
alter table trade add column promised_amount bigint check (promised_amount between 0 and total);
alter table trade add column promised_days integer check (promised_days > 0);
alter table trade add check ((promised_amount is null) = (promised_days is null));
create index trade_promised on trade (deposit_id)
  where promised_amount > 0 and state in ('intended', 'sending', 'unknown', 'active');
