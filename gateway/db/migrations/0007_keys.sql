-- oldest version: 0.3.0
-- Rotation of API keys and of the master key.

-- The lifetime of the key, in seconds. Null: unlimited. The key that replaces it in a rotation gets the same lifetime.
alter table api_key add column lifetime_s integer check (lifetime_s > 0);

-- Fingerprints of earlier master keys that some sealed values may still need. A gateway that starts with a new key adds
-- the fingerprint of the former one. A finished rotation removes them.
alter table till_identity add column old_fingerprints text[] not null default '{}';
-- The fingerprint of the master key with which the process seals. Null until its first heartbeat on this schema.
alter table gateway_process add column key_fingerprint text;
