-- oldest version: 0.3.0
-- The vault keeps what it did for each wish, by the wish's number. A restored database would assign numbers of lost wishes
-- again, and the vault would report the old results for the new wishes.

create trigger wish_life before insert on wish for each statement execute function refuse_in_another_life();

-- The only change to this function: numbers of wishes are skipped too.
create or replace function begin_epoch(at timestamptz, skipped bigint) returns bigint
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  numbered text;
  begun bigint;
begin
  foreach numbered in array
    array['deposit', 'trade', 'ledger_entry', 'payout', 'webhook_endpoint', 'webhook_attempt', 'wish']
  loop
    perform setval(pg_get_serial_sequence(numbered, 'id'),
      coalesce(pg_sequence_last_value(pg_get_serial_sequence(numbered, 'id')::regclass), 0) + skipped);
  end loop;
  delete from halt where kind = 'behind';
  insert into epoch (number, began_at, system_identifier, timeline, database_oid, log_oid)
  select coalesce((select max(number) from epoch), 0) + 1, at, life.system_identifier, life.timeline, life.database_oid,
    life.log_oid
  from database_life() life returning number into begun;
  return begun;
end $$;
