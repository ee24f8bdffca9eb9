-- The custody entries up to this one are in items_held; what came after it is counted by whoever asks.
alter table bot add column items_counted_to bigint not null default 0;
update bot set items_counted_to = (select coalesce(max(id), 0) from custody_entry),
  items_held = greatest(0, (select count(*) filter (where moved = 'in') - count(*) filter (where moved <> 'in')
    from custody_entry where bot_id = bot.id));
create index custody_of_bot_since on custody_entry (bot_id, id);
