-- oldest version: 0.3.0
-- The entry by which an operator had recorded that the item left. This entry takes that record back: the bot still has
-- the item.
alter table custody_entry add column undoes bigint;
