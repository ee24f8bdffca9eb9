-- oldest version: 0.3.0
-- What keeps keys from living longer than they are needed.

-- How long a key was meant to work, in seconds. The one that it is rotated to works as long.
alter table api_key add column lifetime_s integer check (lifetime_s > 0);
