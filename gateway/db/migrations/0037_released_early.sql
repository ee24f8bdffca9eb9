-- oldest version: 0.3.0
-- Whether an operator released the trade's held credit before Steam's protection ended. The credit is at risk until then.
alter table trade add column released_early boolean not null default false;
