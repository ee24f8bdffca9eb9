-- oldest version: 0.3.0
-- Money that one operator moved without a second operator's approval. approval_limit applies to the operator's sum of
-- the last 24 hours.
create table moved_alone (
  id bigint generated always as identity primary key,
  -- Null: the command line, or a session without a passkey. Neither proves who acts, so together they count as one
  -- person.
  operator_id bigint references operator,
  worth_usd_cents bigint not null check (worth_usd_cents >= 0),
  at timestamptz not null
);
create index moved_alone_of on moved_alone (operator_id, at);
