-- Recomputes the ledger from its rows, and lists up to 1,000 differences. An empty result means that there are none.
-- It shares no code with the writer of the ledger.
with entry as (
  select e.*, d.kind as debit_kind, d.currency as debit_currency, d.store_id as debit_store,
    c.kind as credit_kind, c.currency as credit_currency, c.store_id as credit_store
  from ledger_entry e
  join account d on d.id = e.debit_account
  join account c on c.id = e.credit_account
),
delivered as (
  select t.*, q.rate_id, dep.store_id,
    -- The protection that an offer stated can be over when the delivery is proved: then no credit waits for a release.
    coalesce(t.settles_at > t.delivered_at, false) as was_protected
  from trade t join quote q on q.id = t.quote_id join deposit dep on dep.id = t.deposit_id
  where t.delivered_at is not null
),
posted as (
  select trade_id,
    coalesce(sum(amount) filter (where cause = 'delivered'), 0) as delivered,
    coalesce(sum(amount) filter (where cause = 'commission'), 0) as commission,
    coalesce(sum(amount) filter (where cause = 'reversed'), 0) as reversed,
    coalesce(sum(amount) filter (where cause = 'commission_reversed'), 0) as commission_reversed,
    coalesce(sum(case when credit_kind = 'held' then amount when debit_kind = 'held' then -amount end), 0) as held
  from entry where trade_id is not null group by trade_id
),
items as (
  select trade_id, sum(price) as price, sum(gross) as gross, count(*) as count,
    coalesce(sum(price) filter (where reversed_at is not null), 0) as price_back,
    coalesce(sum(gross) filter (where reversed_at is not null), 0) as gross_back
  from trade_item group by trade_id
),
credited_early as (
  select trade_id,
    sum(amount) filter (where cause = 'delivered' and credit_kind = 'available') as amount,
    sum(amount) filter (where cause = 'released') as released, min(id) filter (where cause = 'released') as released_place,
    sum(amount) filter (where cause = 'reversed' and debit_kind <> 'held') as lost
  from entry group by trade_id
),
-- `place` gives the order in which a store's deliveries used its risk limit: each waits until the previous one posts.
early as (
  select t.*, r.per_usd, case when t.was_protected then coalesce(c.amount, 0) else 0 end as early_amount,
    case when t.released_early then coalesce(c.released, 0) else 0 end as advanced_amount, c.released_place,
    (select min(e.id) from ledger_entry e where e.trade_id = t.id) as place
  from delivered t join exchange_rate r on r.id = t.rate_id left join credited_early c on c.trade_id = t.id
  where t.at_risk_amount > 0 and t.protection_found_at is null
),
taken as (
  select store_id, sum(usd_cents) as usd_cents from (
    select t.store_id, ceil(t.at_risk_amount / r.per_usd) as usd_cents
    from delivered t join exchange_rate r on r.id = t.rate_id where t.at_risk_amount > 0
  ) at_risk group by store_id
),
last_early as (
  select distinct on (store_id) store_id, risk_limit_usd_cents, delivered_at, place
  from early where early_amount > 0 order by store_id, place desc
),
credited as (
  select deposit_id, count(*) as trades, sum(total) as total, sum(held_amount) as held, sum(reversed_amount) as reversed
  from delivered group by deposit_id
),
-- An item that its shopper took back after it had left its bot is counted off once, when it leaves.
counted as (
  select c.*, case moved when 'in' then 1 when 'out' then -1 else (
    select case p.moved when 'in' then -1 else 0 end from custody_entry p
    where p.trade_id = c.trade_id and p.asset_id = c.asset_id and p.id < c.id order by p.id desc limit 1) end as change
  from custody_entry c
)
-- Entries
select 'an entry is not in the currency of its accounts' as problem, 'entry ' || id as detail
from entry where currency <> debit_currency or currency <> credit_currency
union all
select 'an entry moves money of another store', 'entry ' || e.id
from entry e join delivered t on t.id = e.trade_id
where coalesce(e.debit_store, t.store_id) <> t.store_id or coalesce(e.credit_store, t.store_id) <> t.store_id
union all
select 'an entry has a different quote, rate or currency from its trade', 'entry ' || e.id
from entry e join delivered t on t.id = e.trade_id
where e.quote_id <> t.quote_id or e.rate_id <> t.rate_id or e.currency <> t.currency
union all
select 'an entry belongs to a trade that was not delivered', 'entry ' || e.id || ', trade ' || e.trade_id
from ledger_entry e join trade t on t.id = e.trade_id where t.delivered_at is null
-- Trades
union all
select 'a delivered trade is not credited with its total and commission', 'trade ' || t.id
from delivered t left join posted p on p.trade_id = t.id
where coalesce(p.delivered, 0) <> t.total or coalesce(p.commission, 0) <> t.gross_total - t.total
union all
select 'a trade is not worth the sum of its items', 'trade ' || t.id
from trade t join items i on i.trade_id = t.id where t.total <> i.price or t.gross_total <> i.gross
union all
select 'the held amount of a trade differs from the ledger', 'trade ' || t.id
from trade t left join posted p on p.trade_id = t.id where t.held_amount <> coalesce(p.held, 0)
union all
select 'the postings of a reversal do not match its items', 'trade ' || t.id
from trade t join items i on i.trade_id = t.id left join posted p on p.trade_id = t.id
where t.reversed_amount <> i.price_back
  or coalesce(p.reversed, 0) <> i.price_back
  or coalesce(p.commission_reversed, 0) <> i.gross_back - i.price_back
union all
select 'the state of a trade contradicts its delivery or amounts', 'trade ' || id || ' is ' || state
from trade where (delivered_at is not null) <> (state in ('held', 'final', 'reversed'))
  or (state = 'final' and held_amount <> 0)
  or (state = 'reversed' and reversed_amount <> total)
-- Acts of operators
union all
select 'an operator credited a trade without a record of it', 'trade ' || t.id
from delivered t where t.credited_by_operator and not exists (select from operator_act a where a.act = 'trade credit'
  and a.arguments ->> 'tradeId' = t.id::text and a.arguments ->> 'steamTradeId' = t.steam_trade_id)
union all
select 'an operator released a trade without a record of it', 'trade ' || t.id
from trade t where t.released_by_operator and not exists (
  select from operator_act a where a.act = 'trade release' and a.arguments ->> 'tradeId' = t.id::text)
union all
select 'an operator released a trade early without a record of it', 'trade ' || t.id
from trade t where t.released_early and not exists (select from operator_act a
  where a.act = 'deposit release' and a.arguments -> 'tradeIds' ? t.id::text)
union all
select 'an operator reversed a trade without a record of it', 'trade ' || t.id
from trade t where t.reversed_by_operator and not exists (
  select from operator_act a where a.act = 'trade reverse' and a.arguments ->> 'tradeId' = t.id::text)
union all
select 'an operator ended a trade without a record of it', 'trade ' || t.id
from trade t where t.reason = 'ended_by_operator' and not exists (
  select from operator_act a where a.act = 'trade end' and a.arguments ->> 'tradeId' = t.id::text)
union all
select 'a trade ended with its bot, which no operator retired', 'trade ' || t.id
from trade t where t.reason = 'bot_retired' and not exists (
  select from operator_act a where a.act = 'bot retire' and a.arguments ->> 'botId' = t.bot_id::text)
-- Credit at risk
union all
select 'a delivered trade has no terms', 'trade ' || id
from delivered where credit_mode is null or liability is null or risk_limit_usd_cents is null
union all
select 'a trade on release has available credit before protection ends', 'trade ' || t.id
from delivered t join credited_early c on c.trade_id = t.id
where t.credit_mode = 'on_release' and c.amount > 0 and t.was_protected and t.protection_found_at is null
union all
select 'the at-risk amount of a trade is not what was credited before protection ended', 'trade ' || t.id
from delivered t left join credited_early c on c.trade_id = t.id
where t.at_risk_amount <> case
  -- All credit could be spent by the time Steam reported the protection: at risk is what remains, and perhaps losses.
  when t.state = 'held' and t.protection_found_at is not null then least(
    greatest(t.at_risk_amount, t.total - t.reversed_amount), t.total - t.reversed_amount + coalesce(c.lost, 0))
  when t.state = 'held' then coalesce(c.amount, 0) + case when t.released_early then coalesce(c.released, 0) else 0 end
  else least(t.at_risk_amount, coalesce(c.lost, 0)) end
union all
select 'a reversal is not borne by the party named in the terms of its trade', 'trade ' || t.id
from delivered t join entry e on e.trade_id = t.id and e.cause = 'reversed'
where (t.liability = 'store' and e.debit_kind = 'loss') or (t.liability = 'operator' and e.debit_kind = 'available')
-- Deposits
union all
select 'a deposit is not credited with what its trades brought', 'deposit ' || d.id
from deposit d left join credited c on c.deposit_id = d.id
where (d.status = 'succeeded') <> (c.deposit_id is not null)
  or coalesce(d.credited_amount, 0) <> coalesce(c.total, 0)
  or d.held_amount <> coalesce(c.held, 0)
  or d.reversed_amount <> coalesce(c.reversed, 0)
union all
select 'a deposit has no event for its status', 'deposit ' || d.id || ' is ' || d.status
from deposit d
where d.status <> 'created' and not exists (
  select from event where event.deposit_id = d.id and event.type = case d.status
    when 'pending' then 'deposit.pending'
    when 'succeeded' then 'deposit.succeeded'
    when 'paymentTimeout' then 'deposit.payment_timeout'
    when 'tradeTimeout' then 'deposit.trade_timeout'
    when 'tradeDeclined' then 'deposit.trade_declined'
    when 'tradeCountered' then 'deposit.trade_countered'
    when 'tradeHasInvalidItems' then 'deposit.trade_has_invalid_items' end)
-- Items
union all
select 'the arrival of an item is not booked, or booked wrongly', 'trade ' || t.id || ', item ' || i.asset_id
from delivered t join trade_item i on i.trade_id = t.id
left join custody_entry c on c.trade_id = t.id and c.asset_id = i.asset_id and c.moved = 'in' and c.departure_id is null and c.undoes is null
where c.id is null or c.received_asset_id is distinct from i.received_asset_id or c.bot_id <> t.bot_id
union all
select 'an item went back without a reversal, or the other way round', 'trade ' || i.trade_id || ', item ' || i.asset_id
from trade_item i
left join custody_entry c on c.trade_id = i.trade_id and c.asset_id = i.asset_id and c.moved = 'back'
where (c.id is null) <> (i.reversed_at is null)
union all
select 'an item that no trade brought is in custody', 'custody entry ' || c.id
from custody_entry c left join trade t on t.id = c.trade_id where t.delivered_at is null
union all
select 'a custody entry does not follow from the one before it', 'custody entry ' || id
from (
  select id, moved, bot_id, departure_id, undoes, lag(id) over item as before, lag(moved) over item as was,
    lag(bot_id) over item as at, lag(departure_id) over item as was_departure
  from custody_entry window item as (partition by trade_id, asset_id order by id)
) c
where case moved when 'in' then was is distinct from (case when departure_id is not null or undoes is not null then 'out' end)
    -- Only the last move can be taken back, and only one that an operator recorded.
    or (undoes is not null and (undoes <> before or at <> bot_id or was_departure is not null or departure_id is not null))
  when 'out' then was is distinct from 'in' or at <> bot_id
  else coalesce(was, 'back') = 'back' or at <> bot_id end
union all
select 'an operator took back the move of an item without a record of it', 'custody entry ' || c.id
from custody_entry c where c.undoes is not null and not exists (select from operator_act a where a.act = 'items unmoved'
  and a.arguments ->> 'item' = c.trade_id || '-' || c.asset_id)
-- From here on, checks need all rows. The checks above can run on a selection of deposits: verify.ts cuts the file here.
union all
select 'the balances of a currency do not sum to zero', currency || ': ' || sum(balance)
from account group by currency having sum(balance) <> 0
union all
select 'a balance is not the sum of its entries', 'account ' || a.id || ': ' || a.balance || ', entries ' || coalesce(s.sum, 0)
from account a left join (
  select account, sum(amount) from (
    select credit_account as account, amount from ledger_entry
    union all select debit_account, -amount from ledger_entry
  ) moved group by account
) s on s.account = a.id
where a.balance <> coalesce(s.sum, 0)
union all
select 'a balance is below its floor', 'account ' || id || ': ' || balance
from account where balance < floor or (kind = 'held' and balance < 0)
union all
select 'the held balance of a store is not the sum over its deposits', 'store ' || s.id || ' ' || c.currency
from store s cross join (select currency from account union select currency from deposit) c
where coalesce((select sum(balance) from account where store_id = s.id and kind = 'held' and currency = c.currency), 0)
  <> coalesce((select sum(held_amount) from deposit where store_id = s.id and currency = c.currency), 0)
union all
select 'the reversed total of a store is not the sum over its deposits', 'store ' || store_id || ' ' || currency
from (select store_id, currency, sum(reversed_amount) from deposit where reversed_amount > 0 group by store_id, currency) d
full join reversed_total using (store_id, currency) where coalesce(d.sum, 0) <> coalesce(amount, 0)
union all
select 'a deposit is not charged with what its reversals cost its store', 'deposit ' || d.id
from deposit d left join (
  select t.deposit_id, sum(e.amount) from entry e join trade t on t.id = e.trade_id
  where e.cause = 'reversed' and e.debit_kind in ('held', 'available') group by t.deposit_id
) c on c.deposit_id = d.id
where d.charged_amount <> coalesce(c.sum, 0)
union all
select 'the available balance of a store is not what remains from its deposits, less its payouts, with its adjustments', 'store ' || s.id || ' ' || c.currency
from store s cross join (select currency from account union select currency from deposit) c
where coalesce((select sum(balance) from account where store_id = s.id and kind = 'available' and currency = c.currency), 0)
  <> coalesce((select sum(coalesce(credited_amount, 0) - held_amount - charged_amount) from deposit
      where store_id = s.id and currency = c.currency), 0)
    - coalesce((select sum(amount) from payout where store_id = s.id and currency = c.currency
      and not exists (select from payout_void v where v.payout_id = payout.id)), 0)
    + coalesce((select sum(case kind when 'debit' then -amount else amount end) from adjustment
      where store_id = s.id and currency = c.currency), 0)
union all
select 'a payout or adjustment is not posted as recorded', what || ' ' || id
from (
  select 'payout' as what, id, store_id, currency, amount, 'paid_out' as cause, 'available' as debit, 'paid_out' as credit
  from payout
  union all
  select 'void of payout', p.id, store_id, currency, amount, 'payout_voided', 'paid_out', 'available'
  from payout p join payout_void v on v.payout_id = p.id
  union all
  select 'adjustment', id, store_id, currency, amount, case kind when 'write_off' then 'written_off' else 'adjusted' end,
    case kind when 'credit' then 'adjustments' when 'debit' then 'available' else 'loss' end,
    case kind when 'debit' then 'adjustments' else 'available' end
  from adjustment
) m full join (
  select case when adjustment_id is not null then 'adjustment' when cause = 'payout_voided' then 'void of payout' else 'payout' end as what,
    coalesce(payout_id, adjustment_id) as id, coalesce(debit_store, credit_store) as store_id, currency, amount, cause,
    debit_kind, credit_kind
  from entry where trade_id is null
) e using (what, id)
where (m.store_id, m.currency, m.amount, m.cause, m.debit, m.credit)
  is distinct from (e.store_id, e.currency, e.amount, e.cause, e.debit_kind, e.credit_kind)
union all
select 'an operator moved money without a record of it', 'void of payout ' || v.payout_id
from payout_void v where not exists (
  select from operator_act a where a.act = 'payout void' and a.arguments ->> 'payoutId' = v.payout_id::text)
union all
select 'an operator moved money without a record of it', 'adjustment ' || j.id
from adjustment j where not exists (select from operator_act a
  where a.act = 'store ' || replace(j.kind, '_', '-') and a.arguments ->> 'adjustmentId' = j.id::text)
union all
select 'a Steam trade is credited twice', 'Steam trade ' || steam_trade_id
from delivered group by steam_trade_id having count(*) > 1
union all
select 'the record of an operator''s act contradicts the trade', 'act ' || a.id || ', ' || a.act
from operator_act a left join trade t on t.id::text = a.arguments ->> 'tradeId'
where a.act in ('trade credit', 'trade release', 'trade reverse', 'trade end') and (t.id is null or case a.act
  when 'trade credit' then not t.credited_by_operator or t.steam_trade_id <> a.arguments ->> 'steamTradeId'
  when 'trade release' then not t.released_by_operator
  when 'trade reverse' then not t.reversed_by_operator
  else t.state in ('intended', 'sending', 'unknown', 'active') end)
union all
select 'the record of an operator''s act names a trade that was not released early', 'act ' || a.id
from operator_act a, jsonb_array_elements_text(a.arguments -> 'tradeIds') named left join trade t on t.id::text = named
where a.act = 'deposit release' and t.released_early is not true
union all
select 'at its last early credit, a store had more credit at risk than its limit',
  'store ' || store_id || ': ' || sum(ceil(amount / per_usd)) || ' of ' || risk_limit_usd_cents
from (
  select l.store_id, l.risk_limit_usd_cents, t.per_usd, case
    -- An early release after that delivery used the limit only later.
    when t.state = 'held' then t.at_risk_amount - case when t.released_place > l.place then t.advanced_amount else 0 end
    when t.at_risk_until <= l.delivered_at then 0
    when t.settles_at > l.delivered_at and not t.released_by_operator then least(t.at_risk_amount, t.early_amount)
    -- The trade may have been released by then, and then only its losses used the limit.
    else least(t.at_risk_amount, coalesce((select sum(e.amount) from entry e
      where e.trade_id = t.id and e.cause = 'reversed' and e.debit_kind <> 'held' and e.id < l.place
        and e.created_at > l.delivered_at - interval '30 days'), 0)) end as amount
  from last_early l join early t on t.store_id = l.store_id and t.place <= l.place
) used
group by store_id, risk_limit_usd_cents having sum(ceil(amount / per_usd)) > risk_limit_usd_cents
union all
select 'the at-risk amount of a store is not the sum of its trades', 'store ' || store_id
from taken full join credit_at_risk c using (store_id) where coalesce(taken.usd_cents, 0) <> coalesce(c.usd_cents, 0)
union all
select 'a stored loss is not what its trade lost', 'trade ' || trade_id
from (
  select t.id as trade_id, t.store_id, ceil(t.at_risk_amount / r.per_usd) as usd_cents, t.at_risk_until as until
  from delivered t join exchange_rate r on r.id = t.rate_id where t.at_risk_amount > 0 and t.state <> 'held'
) lost full join lost_credit l using (trade_id)
where (lost.store_id, lost.usd_cents, lost.until) is distinct from (l.store_id, l.usd_cents, l.until)
union all
select 'the stored number of items of a bot is wrong', 'bot ' || b.id || ': ' || b.items_held
from bot b left join counted c on c.bot_id = b.id and c.id <= b.items_counted_to
group by b.id having b.items_held <> coalesce(sum(c.change), 0)
union all
select 'the stored number of items of a bot in a game is wrong', 'bot ' || bot_id || ', app ' || app_id
from (
  select c.bot_id, i.app_id, sum(c.change) as items
  from counted c join bot_games g on g.bot_id = c.bot_id and c.id <= g.counted_to
  join trade_item i on i.trade_id = c.trade_id and i.asset_id = c.asset_id group by c.bot_id, i.app_id
) held full join (
  select g.bot_id, game.key::integer as app_id, game.value::integer as items
  from bot_games g, jsonb_each_text(g.items) game
) stored using (bot_id, app_id) where coalesce(held.items, 0) <> coalesce(stored.items, 0)
union all
select 'the list of items in hand differs from custody', 'custody entry ' || id
from (
  select custody_entry_id as id, bot_id, trade_id, asset_id from held_item
) stored full join (
  select id, bot_id, trade_id, asset_id from (
    select distinct on (trade_id, asset_id) * from custody_entry
    where id <= coalesce((select counted_to from held_items_mark), 0) order by trade_id, asset_id, id desc
  ) last where moved = 'in'
) held using (id, bot_id, trade_id, asset_id)
where stored.bot_id is null or held.bot_id is null
union all
select 'an asset is reserved by two trades', 'app ' || app_id || ', item ' || asset_id
from trade_item where live group by app_id, asset_id having count(*) > 1
union all
select 'the balances of a market do not sum to zero', market || ' ' || currency || ': ' || sum(balance)
from market_account group by market, currency having sum(balance) <> 0
union all
select 'a balance of a market is not the sum of its entries', market || ' ' || kind || ': ' || balance
from market_account a left join (
  select account, sum(amount) from (
    select credit_account as account, amount from market_entry
    union all select debit_account, -amount from market_entry
  ) moved group by account
) m on m.account = a.id
where a.balance <> coalesce(m.sum, 0)
union all
select 'the money of a sale is not where its state says', 'sale ' || s.id || ', ' || w.kind
from sale s cross join lateral (values
  ('settling', case when s.state = 'settling' then -s.received else 0 end),
  ('free', case s.state when 'paid' then -s.received when 'reversed' then -s.refund else 0 end),
  ('fees', case when s.state in ('settling', 'paid') then s.received - s.price else 0 end),
  ('sales', case when s.state in ('settling', 'paid') then s.price when s.state = 'reversed' then s.refund else 0 end)
) w (kind, amount)
where w.amount <> coalesce((select sum(case when e.credit_account = a.id then e.amount else -e.amount end)
  from market_entry e join market_account a on a.id in (e.debit_account, e.credit_account)
  where e.sale_id = s.id and a.kind = w.kind and a.market = s.market and a.currency = s.currency), 0)
union all
select 'an item was sold that its shopper took back', 'sale ' || s.id
from sale s where s.state in ('settling', 'paid') and (select c.moved from custody_entry c
  where c.trade_id = s.trade_id and c.asset_id = s.asset_id order by c.id desc limit 1) = 'back'
limit 1000
