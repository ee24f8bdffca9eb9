-- oldest version: 0.3.0
-- What keeps stores from hurting others: where their webhooks may go, and how many.

-- ------------------------------------------------------------------------------------------------------- webhooks

-- Hosts and ports that the operator named for the webhooks of a store, beside port 443 of public hosts in live mode.
create table webhook_address (
  store_id bigint not null references store,
  -- As URLs are compared: lower case, an IPv6 address without brackets.
  host text not null check (host = lower(host) and length(host) between 1 and 253),
  port integer not null check (port between 1 and 65535),
  -- Its name may lead to addresses that are not public: this machine, a private network.
  inside boolean not null,
  allowed_at timestamptz not null,
  primary key (store_id, host, port)
);
-- Only the sandbox ever sent to this machine, and it went to all of its ports.
insert into webhook_address (store_id, host, port, inside, allowed_at)
select distinct store_id, address[1], coalesce(address[2], '80')::integer, true, till_now()
from webhook_endpoint, regexp_match(lower(url), '^http://(localhost|127\.0\.0\.1)(?::(\d{1,5}))?(?:[/?#]|$)') address
where address is not null and coalesce(address[2], '80')::integer between 1 and 65535;

alter table webhook_endpoint drop constraint webhook_endpoint_state_check;
alter table webhook_endpoint add constraint webhook_endpoint_state_check
  check (state in ('pending', 'enabled', 'disabled'));
-- The address has repeated a challenge, or the operator gave it. Nothing is sent to any other.
alter table webhook_endpoint add column proved boolean not null default true;
alter table webhook_endpoint add check (state <> 'enabled' or proved);
alter table webhook_endpoint add check (state <> 'pending' or not proved);
-- One that its store removed keeps its row for what was sent there, without its secret.
alter table webhook_endpoint add column removed_at timestamptz;
alter table webhook_endpoint add check (removed_at is null or state = 'disabled');

-- Replays of a store, for a day: they are counted.
create table webhook_replay (
  id bigint generated always as identity primary key,
  store_id bigint not null references store,
  at timestamptz not null,
  deliveries integer not null check (deliveries > 0)
);
create index webhook_replay_of_store on webhook_replay (store_id, at);

-- --------------------------------------------------------------------------------------------------------- prices

alter table price drop constraint price_popularity_kind_check;
alter table price add constraint price_popularity_kind_check
  check (popularity_kind in ('sales7d', 'sales30d', 'listings'));
-- A word of the same source from an hour or more before as_of, which tells a fall; and the one that is the next such.
alter table price add column earlier_micros bigint;
alter table price add column earlier_at timestamptz;
alter table price add column mark_micros bigint;
alter table price add column mark_at timestamptz;
