-- Items in a bot's hands, counted anew by the holder of its lease: a Steam inventory has room for 1000.
alter table bot add column items_held integer not null default 0 check (items_held >= 0);
create index custody_of_bot on custody_entry (bot_id, moved);
