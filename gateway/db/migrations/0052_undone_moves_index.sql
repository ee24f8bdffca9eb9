-- oldest version: 0.3.0
-- without a transaction
-- An item is delivered once, and goes back to its shopper once. The index that is dropped here also refused a second
-- record that an item is gone, so a record that was taken back could not be followed by a correct one.
create unique index concurrently if not exists custody_once on custody_entry (trade_id, asset_id, moved)
  where departure_id is null and undoes is null and moved <> 'out';
create unique index concurrently if not exists custody_undone_once on custody_entry (undoes) where undoes is not null;
drop index concurrently if exists custody_moved_once;
