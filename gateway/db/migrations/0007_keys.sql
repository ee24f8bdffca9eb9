-- oldest version: 0.3.0
-- What keeps keys from living longer than they are needed.

-- How long a key was meant to work, in seconds. The one that it is rotated to works as long.
alter table api_key add column lifetime_s integer check (lifetime_s > 0);

-- Fingerprints of keys that may have sealed what is in here, beside the one that seals: whoever opens the database needs
-- all of them. A gateway that starts with another key adds the one before; a finished rotation removes them.
alter table till_identity add column old_fingerprints text[] not null default '{}';
-- The key that the process seals with; null until its first beat on this schema.
alter table gateway_process add column key_fingerprint text;
