-- oldest version: 0.3.0
-- What a shopper is promised before accepting the offer: how much is credited at once.

-- For a trade that the shopper could reverse: the least that is credited at once, and for how many days the rest is
-- held. While the trade is open, the promise counts against the store's risk limit.
alter table trade add column promised_amount bigint check (promised_amount between 0 and total);
alter table trade add column promised_days integer check (promised_days > 0);
alter table trade add check ((promised_amount is null) = (promised_days is null));
create index trade_promised on trade (deposit_id)
  where promised_amount > 0 and state in ('intended', 'sending', 'unknown', 'active');
