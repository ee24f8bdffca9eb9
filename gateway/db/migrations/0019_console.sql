-- oldest version: 0.3.0
-- The operator's console: who may sign in, with which passkey, and what waits for a second operator.

create table operator (
  id bigint generated always as identity primary key,
  name text not null check (length(name) between 1 and 80),
  role text not null check (role in ('viewer', 'support', 'operator')),
  -- The user id that authenticators store. It is random, so a passkey reveals nothing about its owner.
  user_handle bytea not null unique,
  created_at timestamptz not null default till_now(),
  removed_at timestamptz
);
create unique index operator_of_name on operator (lower(name)) where removed_at is null;

create table operator_passkey (
  credential_id text primary key,
  operator_id bigint not null references operator,
  public_key bytea not null,
  counter bigint not null,
  transports text[] not null,
  created_at timestamptz not null default till_now()
);
create index operator_passkey_of on operator_passkey (operator_id);

-- Links (by which operators register a passkey), challenges and sessions expire by the machine's clock, so moving the
-- till's clock ends none of them.
create table operator_link (
  secret_sha256 bytea primary key,
  operator_id bigint not null unique references operator,
  expires_at timestamptz not null
);

create table operator_challenge (
  challenge bytea primary key,
  -- step_up: to confirm an act.
  purpose text not null check (purpose in ('register', 'sign_in', 'step_up')),
  -- The hash of the link or of the session that asked for it.
  asked_by bytea,
  expires_at timestamptz not null
);
create index operator_challenge_ends on operator_challenge (expires_at);

create table operator_session (
  -- The hash of the cookie. Browsers send a cookie to every port of a host, so it is only half of the secret.
  cookie_sha256 bytea primary key,
  -- The hash of the other half, which only a page of the console's origin can read.
  page_sha256 bytea not null,
  operator_id bigint references operator,
  -- Set in a sandbox session, which needs no passkey: the hash of the sandbox's key. Another key ends the session.
  sandbox_sha256 bytea,
  begun_at timestamptz not null,
  used_at timestamptz not null,
  -- When a passkey was last checked.
  verified_at timestamptz not null,
  check ((operator_id is null) = (sandbox_sha256 is not null))
);
create index operator_session_of on operator_session (operator_id);
create index operator_session_used on operator_session (used_at);

-- The most that an operator can move in 24 hours without the approval of a second one. No row: no approval is needed.
create table approval_limit (
  is_only boolean primary key default true check (is_only),
  above_usd_cents bigint not null check (above_usd_cents >= 0)
);

create table proposal (
  id bigint generated always as identity primary key,
  act text not null,
  input jsonb not null,
  reason text,
  proposed_by text not null,
  -- The operator whose passkey backs the act: the one who proposed it in the console, or else the first to approve it.
  -- Null until then.
  backed_by bigint references operator,
  -- The amount that the act moves. Null: the act changes approval_limit itself, or no exchange rate is known.
  worth_usd_cents bigint,
  state text not null default 'open' check (state in ('open', 'approved', 'declined')),
  decided_by text,
  decided_at timestamptz,
  created_at timestamptz not null default till_now(),
  check ((state = 'open') = (decided_by is null)),
  check ((state = 'open') = (decided_at is null))
);
create index proposal_open on proposal (id) where state = 'open';
create index proposal_of_backer on proposal (backed_by) where backed_by is not null;
