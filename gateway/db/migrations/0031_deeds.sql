-- oldest version: 0.3.0
-- without a transaction
-- The vault gives to few accounts, so a deed is found by its items instead. A hash index, because 100 items are too long
-- for a B-tree.
create index concurrently if not exists vault_deed_of_assets on vault_deed using hash (assets);
