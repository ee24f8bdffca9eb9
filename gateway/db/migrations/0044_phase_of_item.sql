-- oldest version: 0.3.0
-- The phase of a Doppler, which its name on Steam does not show. Null for every other item and in all existing rows, so
-- the constraints do not check those (not valid).
alter table quote_item add column phase text;
alter table quote_item add constraint quote_item_phase_check
  check (phase in ('phase1', 'phase2', 'phase3', 'phase4', 'ruby', 'sapphire', 'blackPearl', 'emerald')) not valid;
alter table trade_item add column phase text;
alter table trade_item add constraint trade_item_phase_check
  check (phase in ('phase1', 'phase2', 'phase3', 'phase4', 'ruby', 'sapphire', 'blackPearl', 'emerald')) not valid;
