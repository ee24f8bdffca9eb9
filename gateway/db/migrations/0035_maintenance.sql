-- oldest version: 0.3.0
-- The operator's message to shoppers during maintenance, and the planned end.
alter table outage
  add column text_en text,
  add column text_ru text,
  add column ends_at timestamptz,
  add check (kind = 'maintenance' or (text_en is null and text_ru is null and ends_at is null)),
  add check ((text_en is null) = (text_ru is null));
