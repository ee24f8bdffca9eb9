-- oldest version: 0.3.0
-- What keeps a till from being run as another one. The first line names the oldest version that may run on this schema.

-- Which till this database is: written by the first gateway that starts on it, and never changed.
create table till_identity (
  is_only boolean primary key default true check (is_only),
  mode text not null check (mode in ('sandbox', 'live')),
  -- An HMAC of a fixed text with the master key: it tells keys apart, and says nothing of the key.
  key_fingerprint text not null check (key_fingerprint ~ '^[0-9a-f]{64}$')
);
