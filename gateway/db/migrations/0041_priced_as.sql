-- oldest version: 0.3.0
-- The name of a Doppler's phase, where an item has the price of its phase.
alter table quote_item add column priced_as text;
