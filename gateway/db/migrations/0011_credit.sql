-- oldest version: 0.3.0
-- What lets a delivery be credited without waiting for others of its store.

-- Counts up by every promise, at least by its amount, and never down: a delivery that found more promised than it had seen
-- decides again.
alter table credit_at_risk add column promised_usd_cents bigint not null default 0 check (promised_usd_cents >= 0);

-- Ends a statement whose transaction rests on what another one has changed, and has it begin again.
create function overtaken(what text) returns bigint language plpgsql as $$
begin
  raise exception '%', what using errcode = 'serialization_failure';
end $$;
