-- oldest version: 0.3.0
-- without a transaction
-- What the vault says beforehand that it gives to a buyer, by the buyer's account: such a departure is no alarm.
create index concurrently if not exists vault_told_gift on vault_told ((told ->> 'partnerSteamId')) where told ->> 'kind' = 'gift';

-- Items that are on sale, or sold and not given yet: no wish asks for them.
create index concurrently if not exists sale_open on sale (trade_id, asset_id) where state in ('listed', 'sold');
