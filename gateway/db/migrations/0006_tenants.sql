-- oldest version: 0.3.0
-- Keeps a store from harming others through its webhooks, with limits on their addresses and on replays.

-- ------------------------------------------------------------------------------------------------------- webhooks

-- Hosts and ports that the operator allows for a store's webhooks. Port 443 of a public host needs no row in live mode.
create table webhook_address (
  store_id bigint not null references store,
  -- In lower case. An IPv6 address has no brackets.
  host text not null check (host = lower(host) and length(host) between 1 and 253),
  port integer not null check (port between 1 and 65535),
  -- Whether the host may resolve to an address that is not public: of this machine or of a private network.
  inside boolean not null,
  allowed_at timestamptz not null,
  primary key (store_id, host, port)
);
-- Earlier versions sent webhooks to this machine only in sandbox mode, but to any port. Existing endpoints there stay
-- allowed.
insert into webhook_address (store_id, host, port, inside, allowed_at)
select distinct store_id, address[1], coalesce(address[2], '80')::integer, true, till_now()
from webhook_endpoint, regexp_match(lower(url), '^http://(localhost|127\.0\.0\.1)(?::(\d{1,5}))?(?:[/?#]|$)') address
where address is not null and coalesce(address[2], '80')::integer between 1 and 65535;

alter table webhook_endpoint drop constraint webhook_endpoint_state_check;
alter table webhook_endpoint add constraint webhook_endpoint_state_check
  check (state in ('pending', 'enabled', 'disabled'));
-- Whether the URL has answered a challenge, or was set by the operator. Events are sent only to a proved URL.
alter table webhook_endpoint add column proved boolean not null default true;
alter table webhook_endpoint add check (state <> 'enabled' or proved);
alter table webhook_endpoint add check (state <> 'pending' or not proved);
-- When the store removed the endpoint. The row remains without its secret, because deliveries refer to it.
alter table webhook_endpoint add column removed_at timestamptz;
alter table webhook_endpoint add check (removed_at is null or state = 'disabled');

-- The replays that a store requested within the last day, to limit them.
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
-- earlier_micros: a price of the same source from an hour or more before as_of, to notice a fall.
-- mark_micros: the price that becomes earlier_micros next, unless a newer one is old enough by then.
alter table price add column earlier_micros bigint;
alter table price add column earlier_at timestamptz;
alter table price add column mark_micros bigint;
alter table price add column mark_at timestamptz;
