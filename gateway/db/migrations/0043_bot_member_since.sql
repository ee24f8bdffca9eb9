-- oldest version: 0.3.0
-- The day on which a bot's account joined Steam, YYYY-MM-DD: shoppers compare it with the profile on Steam.
alter table bot add column member_since text check (member_since ~ '^\d{4}-\d\d-\d\d$');
