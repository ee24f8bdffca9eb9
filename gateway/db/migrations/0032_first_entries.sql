-- oldest version: 0.3.0
-- without a transaction
-- The lists of items read only the entry with which an item first came. Without this index they also read all
-- entries in between, which are many in a row where a vault gave away many items at once.
create index concurrently if not exists custody_first on custody_entry (id) where moved = 'in' and departure_id is null;
