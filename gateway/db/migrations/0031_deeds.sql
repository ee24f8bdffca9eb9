-- oldest version: 0.3.0
-- without a transaction
-- Finds a deed by its items, not by its recipient: the vault gives to few accounts, so many deeds share a recipient. A
-- hash index, because the ids of many items are too long for a B-tree.
create index concurrently if not exists vault_deed_of_assets on vault_deed using hash (assets);
