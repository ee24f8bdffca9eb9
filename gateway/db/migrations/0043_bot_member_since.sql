-- oldest version: 0.3.0
-- The day on which the bot's account joined Steam, as YYYY-MM-DD. Shoppers compare it with the bot's Steam profile.
alter table bot add column member_since text check (member_since ~ '^\d{4}-\d\d-\d\d$');
