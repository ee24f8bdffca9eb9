-- oldest version: 0.3.0

-- A process without bots, which answers requests or runs scheduled work, has a row too.
alter table gateway_process
  drop constraint gateway_process_max_bots_check,
  add constraint gateway_process_max_bots_check check (max_bots >= 0);
