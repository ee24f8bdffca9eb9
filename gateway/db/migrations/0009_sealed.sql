-- oldest version: 0.3.0
-- Trade tokens are sealed (encrypted) with the master key. Gateways seal the existing ones after this migration.

-- ---------------------------------------------------------------------------------------------------- trade tokens

alter table deposit add column user_token_sealed bytea;
alter table trade add column partner_token_sealed bytea;
-- Null once the token is sealed or erased.
alter table trade alter column partner_token drop not null;
-- Finds the tokens that are not sealed yet.
create index deposit_token_in_clear on deposit (id) where user_token is not null;
create index trade_token_in_clear on trade (id) where partner_token is not null;

-- Nothing is lost: pages can read an inventory again.
delete from inventory_request;
alter table inventory_request drop column token;
alter table inventory_request add column token_sealed bytea not null;
-- Finds requests with the same token.
alter table inventory_request add column token_hmac bytea not null;

-- Tokens are so short that trying all of them reveals the one behind a plain hash. An HMAC needs a key.
delete from deposit_link;
alter table deposit_link rename column link_sha256 to link_hmac;

-- ------------------------------------------------------------------------------------------------------- retention

-- For the sweeps that delete old rows or erase personal data. The partial indexes hold only
-- rows with something to erase.
create index webhook_attempt_old on webhook_attempt (at);
create index deposit_with_token on deposit (expires_at, id) where user_token_sealed is not null;
create index deposit_with_profile on deposit (expires_at, id) where user_name is not null;

-- ------------------------------------------------------------------------------------------------------- reversals

-- The part of reversed_amount that the store bore. The rest was the operator's loss.
alter table deposit add column charged_amount bigint not null default 0 check (charged_amount >= 0);
update deposit set charged_amount = charged.sum from (
  select trade.deposit_id, sum(entry.amount) as sum
  from ledger_entry entry
  join account on account.id = entry.debit_account and account.kind in ('held', 'available')
  join trade on trade.id = entry.trade_id
  where entry.cause = 'reversed' group by trade.deposit_id
) charged where charged.deposit_id = deposit.id;
-- Deposits with a loss of the operator, for the store's statement.
create index deposit_covered on deposit (store_id, currency) where reversed_amount > charged_amount;
