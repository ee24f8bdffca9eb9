-- What the operator paid out to stores: money that leaves the till without a trade.

create table payout (
  id bigint generated always as identity primary key,
  store_id bigint not null references store,
  currency text not null check (currency in ('USD', 'EUR', 'BRL')),
  amount bigint not null check (amount > 0),
  -- The operator's own: a payout that is recorded again under it is refused or the same.
  reference text not null check (length(reference) between 1 and 128),
  created_at timestamptz not null,
  unique (store_id, reference)
);

alter table ledger_entry
  alter column trade_id drop not null,
  alter column quote_id drop not null,
  alter column rate_id drop not null,
  add column payout_id bigint references payout,
  add constraint ledger_entry_cause_known check (
    (cause = 'paid_out') = (payout_id is not null) and (cause = 'paid_out') = (trade_id is null)
    and (trade_id is null) = (quote_id is null) and (trade_id is null) = (rate_id is null));
create unique index ledger_entry_payout on ledger_entry (payout_id) where payout_id is not null;

-- Statements of a store, newest first.
create index ledger_entry_debit on ledger_entry (debit_account, id desc);
create index ledger_entry_credit on ledger_entry (credit_account, id desc);
