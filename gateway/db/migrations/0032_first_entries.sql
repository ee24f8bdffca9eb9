-- oldest version: 0.3.0
-- without a transaction
-- The lists of items walk along the entries by which items came first. The others are passed over, and where a vault gave
-- much away at once, they lie together.
create index concurrently if not exists custody_first on custody_entry (id) where moved = 'in' and departure_id is null;
