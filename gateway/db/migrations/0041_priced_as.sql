-- oldest version: 0.3.0
-- The name with the phase of a Doppler, if the item was priced by its phase.
alter table quote_item add column priced_as text;
