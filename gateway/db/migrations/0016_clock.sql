-- The till's clock. In sandbox mode it can be ahead of the machine's, in live mode never.

-- No row: it is the machine's clock.
create table till_clock (
  only_row boolean primary key default true check (only_row),
  -- At most 400 days; only forward.
  ahead_s integer not null check (ahead_s between 0 and 34560000)
);

-- The one reading of the till's time in SQL. Only connections of sandbox mode say so, and all others get the machine's
-- time whatever the table holds. now() is named without its schema, so that a proof can put its own before it.
-- Use it as (select till_now()): a query then computes it once, not for each row.
create function till_now() returns timestamptz language sql stable parallel safe as $$
  select now() + case when current_setting('tradetill.mode', true) = 'sandbox'
    then make_interval(secs => coalesce((select ahead_s from till_clock), 0))
    else interval '0' end
$$;

alter table store alter column created_at set default till_now();
alter table api_key alter column created_at set default till_now();
alter table bot alter column created_at set default till_now();
alter table deposit alter column created_at set default till_now();
alter table inventory_request alter column created_at set default till_now();
alter table trade alter column created_at set default till_now();
alter table ledger_entry alter column created_at set default till_now();
alter table event alter column created_at set default till_now();
alter table webhook_endpoint alter column created_at set default till_now();
alter table custody_entry alter column created_at set default till_now();
