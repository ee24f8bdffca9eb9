-- oldest version: 0.3.0
-- An operator let the store have what the trade held before Steam's protection ended: it is at risk until then.
alter table trade add column released_early boolean not null default false;
