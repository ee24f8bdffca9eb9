-- oldest version: 0.3.0
-- Lets a delivery decide about credit without locking its store: deliveries of one store wait for each other only while
-- they write.

-- Grows with every promise, at least by its amount, and never falls. If it has grown since a delivery read it, and the
-- store's limit has no room for the new promises too, the delivery decides again.
alter table credit_at_risk add column promised_usd_cents bigint not null default 0 check (promised_usd_cents >= 0);

-- Fails a statement whose transaction relies on something that another transaction has changed. The caller then repeats
-- its transaction.
create function overtaken(what text) returns bigint language plpgsql as $$
begin
  raise exception '%', what using errcode = 'serialization_failure';
end $$;
