-- oldest version: 0.3.0
-- A database that was restored, or that lost its last commits, would reuse numbers that stores have already seen.
-- Until a new epoch begins on it, no event is published, no deposit is opened and no offer is made.

-- ------------------------------------------------------------------------------------------------------------ epochs

-- Returns what identifies this copy of the database, and how far its WAL is written. Null: the server does not report
-- the value.
create function database_life(out system_identifier text, out timeline bigint, out database_oid bigint, out log_oid bigint,
  out written bigint)
language plpgsql as $$
begin
  database_oid := (select oid from pg_database where datname = current_database());
  -- A dump that is restored into the same database makes its tables again.
  log_oid := 'public.event'::regclass::oid;
  begin
    select control.system_identifier into system_identifier from pg_control_system() control;
  exception when insufficient_privilege or feature_not_supported then null;
  end;
  begin
    written := pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0');
    timeline := ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::bigint;
  -- In recovery there is neither.
  exception when insufficient_privilege or feature_not_supported or object_not_in_prerequisite_state then null;
  end;
end $$;

-- The newest row is the current epoch. No row: no gateway has started yet.
create table epoch (
  number bigint primary key check (number > 0),
  began_at timestamptz not null,
  system_identifier text,
  timeline bigint,
  database_oid bigint not null,
  log_oid bigint not null
);

-- `behind`: a gateway knows of commits that this database has lost. `disarmed`: no bot may act on Steam.
create table halt (
  kind text primary key check (kind in ('behind', 'disarmed')),
  since timestamptz not null
);

create function life_is_current() returns boolean language sql stable as $$
  select not exists (select from public.halt where kind = 'behind') and coalesce((
    select (own.system_identifier, own.timeline, own.database_oid, own.log_oid)
      is not distinct from (now.system_identifier, now.timeline, now.database_oid, now.log_oid)
    from (select * from public.epoch order by number desc limit 1) own, public.database_life() now), true)
$$;

create function bots_may_speak() returns boolean language sql stable as $$
  select public.life_is_current() and not exists (select from public.halt where kind = 'disarmed')
$$;

-- ------------------------------------------------------------------------------------------------------------ fences

-- The check runs in the transaction that assigns the number, so a gateway may learn of the restore as late as it likes.
create function refuse_in_another_life() returns trigger language plpgsql as $$
begin
  if not public.life_is_current() then
    raise exception 'this database was restored, or lost its last commits: tradetill restore finish' using errcode = 'TT001';
  end if;
  return null;
end $$;

create trigger deposit_life before insert on deposit for each statement execute function refuse_in_another_life();
create trigger trade_life before insert on trade for each statement execute function refuse_in_another_life();
create trigger event_life before update of sequence on event for each statement execute function refuse_in_another_life();

-- ------------------------------------------------------------------------------------------------------- a new epoch

-- Begins the next epoch on this copy of the database. New ids of the tables in the list skip ahead, beyond every id
-- that a lost commit can have used. Only the tables' owner may move such a counter, so the function runs as the owner.
-- The caller holds the publisher's lock.
create function begin_epoch(at timestamptz, skipped bigint) returns bigint
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  numbered text;
  begun bigint;
begin
  foreach numbered in array array['deposit', 'trade', 'ledger_entry', 'payout', 'webhook_endpoint', 'webhook_attempt'] loop
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

-- ------------------------------------------------------------------------------------------------------------- events

-- epoch.started goes to every store and belongs to no deposit.
alter table event alter column deposit_id drop not null;

-- Both lists of types only grow, so the existing rows need no check (not valid).
alter table event drop constraint event_type_check;
alter table event add constraint event_type_check check (type in ('deposit.pending', 'deposit.succeeded',
  'deposit.amount_increased', 'deposit.payment_timeout', 'deposit.trade_timeout', 'deposit.trade_declined',
  'deposit.trade_countered', 'deposit.trade_has_invalid_items', 'deposit.funds_available', 'deposit.reversed',
  'epoch.started')) not valid;

alter table webhook_endpoint drop constraint webhook_endpoint_event_types_check;
alter table webhook_endpoint add constraint webhook_endpoint_event_types_check
  check (cardinality(event_types) > 0 and event_types <@ array['deposit.pending', 'deposit.succeeded',
    'deposit.amount_increased', 'deposit.payment_timeout', 'deposit.trade_timeout', 'deposit.trade_declined',
    'deposit.trade_countered', 'deposit.trade_has_invalid_items', 'deposit.funds_available', 'deposit.reversed',
    'epoch.started']) not valid;
