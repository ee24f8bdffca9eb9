-- oldest version: 0.3.0
-- A bot may sell the items that it collected, so the vault reads what they cost while the bot still has them.

-- What was credited for items, in US cents, by the items' ids in the inventory of their owner. The owner is an account
-- to which a bot gave them, or the bot that still has them. The bot's items count once their trade is no longer `held`.
create or replace view item_cost as
with named (app_id, asset_id, trade_id, given_id) as (
  select gone.app_id, gone.new_asset_id, entry.trade_id, entry.asset_id
  from departed_item gone
  join custody_entry entry on entry.departure_id = gone.departure_id and entry.moved = 'out'
    and entry.received_asset_id = gone.asset_id
  where gone.new_asset_id is not null and not gone.is_back
  union all
  select item.app_id, entry.received_asset_id, entry.trade_id, entry.asset_id
  from custody_entry entry
  join trade_item item on item.trade_id = entry.trade_id and item.asset_id = entry.asset_id
  join trade on trade.id = entry.trade_id and trade.state <> 'held'
  where entry.moved = 'in' and entry.received_asset_id is not null and not exists (select from custody_entry later
    where later.trade_id = entry.trade_id and later.asset_id = entry.asset_id and later.id > entry.id)
  union all
  select item.app_id, learnt.received_asset_id, entry.trade_id, entry.asset_id
  from learnt_asset learnt
  join custody_entry entry on entry.id = learnt.custody_entry_id
  join trade_item item on item.trade_id = entry.trade_id and item.asset_id = entry.asset_id
  join trade on trade.id = entry.trade_id and trade.state <> 'held'
  where entry.moved = 'in' and not exists (select from custody_entry later
    where later.trade_id = entry.trade_id and later.asset_id = entry.asset_id and later.id > entry.id)
)
select named.app_id, named.asset_id, ceil(item.price / rate.per_usd)::bigint as usd_cents
from named
join trade_item item on item.trade_id = named.trade_id and item.asset_id = named.given_id and item.app_id = named.app_id
join trade on trade.id = item.trade_id
join quote on quote.id = trade.quote_id
join exchange_rate rate on rate.id = quote.rate_id;
