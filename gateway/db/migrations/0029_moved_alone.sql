-- oldest version: 0.3.0
-- What moved without a second operator. The limit of operators is for the sum of a day.
create table moved_alone (
  id bigint generated always as identity primary key,
  -- Null: the command line, which proves nobody and counts as one person.
  operator_id bigint references operator,
  worth_usd_cents bigint not null check (worth_usd_cents >= 0),
  at timestamptz not null
);
create index moved_alone_of on moved_alone (operator_id, at);
