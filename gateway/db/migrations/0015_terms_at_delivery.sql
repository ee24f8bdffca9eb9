-- Liability and credit mode are fixed on the trade at its delivery. Credit that a reversal took keeps its room.
alter table trade
  add column credit_mode text check (credit_mode in ('on_accept', 'on_release')),
  add column liability text check (liability in ('operator', 'store')),
  add column risk_limit_usd_cents bigint,
  add column at_risk_amount bigint not null default 0 check (at_risk_amount between 0 and total),
  add column at_risk_until timestamptz;

update trade
set credit_mode = coalesce(deposit.credit_mode, store.credit_mode), liability = store.liability,
  risk_limit_usd_cents = store.risk_limit_usd_cents,
  at_risk_amount = case when trade.state = 'held' then trade.total - trade.held_amount - trade.reversed_amount else 0 end
from deposit join store on store.id = deposit.store_id
where deposit.id = trade.deposit_id and trade.delivered_at is not null;

alter table trade add constraint trade_terms_at_delivery check (
  delivered_at is null or (credit_mode is not null and liability is not null and risk_limit_usd_cents is not null)
);

create index trade_at_risk on trade (deposit_id) where at_risk_amount > 0;
