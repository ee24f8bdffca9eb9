-- oldest version: 0.3.0
-- without a transaction
-- Finds a deed by its items. The vault gives to few accounts, so too many deeds have the same account. A hash index,
-- because the ids of many items are too long for a B-tree.
create index concurrently if not exists vault_deed_of_assets on vault_deed using hash (assets);
