-- oldest version: 0.3.0
-- Prevents a gateway from running on another till's database. The first line of this file names the oldest version that
-- may run on this schema.

-- Which till this database belongs to. Written by the first gateway that starts on it.
create table till_identity (
  is_only boolean primary key default true check (is_only),
  mode text not null check (mode in ('sandbox', 'live')),
  -- An HMAC of a fixed text with the master key. It tells keys apart without revealing them.
  key_fingerprint text not null check (key_fingerprint ~ '^[0-9a-f]{64}$')
);
