-- oldest version: 0.3.0
-- without a transaction
-- The vault announces what it is about to give to a buyer, and such a departure raises no alarm. This index finds the
-- announcement by the buyer's account.
create index concurrently if not exists vault_told_gift on vault_told ((told ->> 'partnerSteamId')) where told ->> 'kind' = 'gift';

-- Items that are listed, or sold and not yet given. No wish may ask for them.
create index concurrently if not exists sale_open on sale (trade_id, asset_id) where state in ('listed', 'sold');
