-- oldest version: 0.3.0
-- without a transaction
-- The lists of items read only the entry with which an item first came. Without this index they also read all
-- entries in between, of which there are many after a vault gave away many items at once.
create index concurrently if not exists custody_first on custody_entry (id) where moved = 'in' and departure_id is null;
