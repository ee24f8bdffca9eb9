-- oldest version: 0.2.0
-- What needs a person at the vault, as the vault reports it. If the till has two roles, only the vault's role may write
-- it (gateway/db/roles.ts).
create table vault_need (
  -- docs/selling.md says what to do for each kind. A newer vault may report kinds that this till does not know.
  kind text not null check (length(kind) between 1 and 40),
  -- What it is about, such as a market and a deal.
  about text not null check (length(about) <= 200),
  text text not null check (length(text) between 1 and 300),
  -- By the vault's clock.
  since timestamptz not null,
  -- When the vault last had reason to report it.
  seen_at timestamptz not null,
  primary key (kind, about)
);
