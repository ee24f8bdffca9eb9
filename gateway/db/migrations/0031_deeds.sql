-- oldest version: 0.3.0
-- without a transaction
-- The vault gives to a few accounts, so its deeds are found by what they give. Hashed, because they may give 100 items.
create index concurrently if not exists vault_deed_of_assets on vault_deed using hash (assets);
