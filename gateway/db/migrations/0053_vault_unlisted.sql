-- oldest version: 0.2.0
-- Why items of the vault's accounts are not on sale, as the vault reports it every minute. If the till has two roles, only
-- the vault's role may write it (gateway/db/roles.ts).
create table vault_unlisted (
  market text not null check (length(market) between 1 and 40),
  account text not null check (length(account) <= 20),
  -- Null, as is the number of items, if nothing at all is listed for the account.
  app_id integer,
  -- docs/selling.md explains each reason. A newer vault may report reasons that this till does not know.
  reason text not null check (length(reason) between 1 and 40),
  items integer,
  -- The name of one of the items, or why nothing at all is listed.
  detail text not null check (length(detail) <= 200),
  -- By the vault's clock.
  said_at timestamptz not null
);
