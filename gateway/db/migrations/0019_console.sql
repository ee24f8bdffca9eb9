-- oldest version: 0.3.0
-- The operator's console: who may come in and with which passkey, and what waits for a second person.

create table operator (
  id bigint generated always as identity primary key,
  name text not null check (length(name) between 1 and 80),
  role text not null check (role in ('viewer', 'support', 'operator')),
  -- The name that an authenticator knows: random, so a passkey tells nothing of its owner.
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

-- What follows ends by the machine's clock: advancing the till's must end no session.
create table operator_link (
  secret_sha256 bytea primary key,
  operator_id bigint not null unique references operator,
  expires_at timestamptz not null
);

create table operator_challenge (
  challenge bytea primary key,
  purpose text not null check (purpose in ('register', 'sign_in', 'step_up')),
  -- The hash of the link or of the session that asked for it.
  asked_by bytea,
  expires_at timestamptz not null
);
create index operator_challenge_ends on operator_challenge (expires_at);

create table operator_session (
  -- The cookie. Every port of a host is sent it.
  cookie_sha256 bytea primary key,
  -- The other half, which only the page of the console's origin can read.
  page_sha256 bytea not null,
  operator_id bigint references operator,
  -- The key of a sandbox that signs in without a passkey. Its process ends, and so does the session.
  sandbox_sha256 bytea,
  begun_at timestamptz not null,
  used_at timestamptz not null,
  -- The last check of a passkey.
  verified_at timestamptz not null,
  check ((operator_id is null) = (sandbox_sha256 is not null))
);
create index operator_session_of on operator_session (operator_id);
create index operator_session_used on operator_session (used_at);

-- Above it a second operator must approve what moves money. No row: never.
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
  -- The operator whose passkey stands behind it. The command line proves nobody.
  backed_by bigint references operator,
  -- Null where it concerns everything, or no exchange rate is known.
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
