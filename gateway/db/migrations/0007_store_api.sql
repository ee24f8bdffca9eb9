-- What a store may ask of a deposit, keys with rights, several webhook endpoints, repeated calls, payouts.

alter table deposit
  -- How the store names its customer, and whatever else it wants back with every answer.
  add column customer_reference text check (length(customer_reference) between 1 and 128),
  add column metadata jsonb not null default '{}',
  -- What the store wants to receive; min_amount is the same then.
  add column target_amount bigint check (target_amount > 0 and target_amount = min_amount),
  -- Null: all games.
  add column games text[] check (cardinality(games) between 1 and 4 and games <@ array['cs', 'dota', 'rust', 'tf']),
  -- Null: as the store has it.
  add column credit_mode text check (credit_mode in ('on_accept', 'on_release')),
  -- When the store cancelled it before an offer stood.
  add column cancelled_at timestamptz check (cancelled_at is null or status <> 'created');

-- Lists in the order of creation: all, by status, by customer.
create index deposit_of_store on deposit (store_id, created_at desc, id desc);
create index deposit_of_status on deposit (store_id, status, created_at desc, id desc);
create index deposit_of_customer on deposit (store_id, customer_reference, created_at desc, id desc)
  where customer_reference is not null;
-- What the operator's monitoring counts.
create index deposit_open on deposit (status) where status in ('created', 'pending');
create index deposit_reversed on deposit (store_id, currency) include (reversed_amount) where reversed_amount > 0;

-- Events that were written before carry the new fields as they would have been.
update event set payload = jsonb_set(payload, '{data}', jsonb_build_object(
    'endReason', null, 'availableAmount', 0, 'reversedAmount', 0, 'minAmount', null, 'maxAmount', null,
    'targetAmount', null, 'games', jsonb_build_array('cs', 'dota', 'rust', 'tf'), 'language', null,
    'customerReference', null, 'metadata', '{}'::jsonb)
  || (payload -> 'data')
  || case when jsonb_typeof(payload -> 'data' -> 'trade') = 'object' then jsonb_build_object('trade',
    jsonb_build_object('steamTradeId', null) || (payload -> 'data' -> 'trade') || jsonb_build_object('items', (
      select coalesce(jsonb_agg('{"reversed": false}'::jsonb || item), '[]'::jsonb)
      from jsonb_array_elements(payload -> 'data' -> 'trade' -> 'items') item)))
  else '{}'::jsonb end);
create index event_of_deposit on event (deposit_id, sequence);

alter table api_key
  add column name text not null default 'first key' check (length(name) between 1 and 80),
  add column scopes text[] not null
    default array['deposits:read', 'deposits:write', 'balance:read', 'webhooks:manage'] check (cardinality(scopes) > 0),
  -- Written at most once a minute.
  add column last_used_at timestamptz,
  -- A key that was rotated works until then.
  add column expires_at timestamptz;
create index api_key_of_store on api_key (store_id);

create table webhook_endpoint (
  id bigint generated always as identity primary key,
  store_id bigint not null references store,
  url text not null check (length(url) <= 2000),
  -- AES-256-GCM, bound to this row and column; endpoints that came from `store` keep the store's place.
  secret bytea not null,
  -- Signs beside the new one until then.
  previous_secret bytea,
  previous_until timestamptz,
  -- Null: all types.
  event_types text[] check (cardinality(event_types) > 0),
  state text not null default 'enabled' check (state in ('enabled', 'disabled')),
  disabled_reason text check (disabled_reason in ('by_store', 'gone')),
  created_at timestamptz not null default now(),
  check ((previous_secret is null) = (previous_until is null)),
  check ((state = 'disabled') = (disabled_reason is not null))
);
create index webhook_endpoint_of_store on webhook_endpoint (store_id);
insert into webhook_endpoint (store_id, url, secret)
select id, webhook_url, webhook_secret from store where webhook_url is not null and webhook_secret is not null;

-- One row an event and endpoint.
alter table webhook_delivery drop constraint webhook_delivery_pkey;
alter table webhook_delivery
  add column id bigint generated always as identity primary key,
  add column endpoint_id bigint references webhook_endpoint;
update webhook_delivery d set endpoint_id = e.id
from event join webhook_endpoint e on e.store_id = event.store_id where event.id = d.event_id;
delete from webhook_delivery where endpoint_id is null;
alter table webhook_delivery alter column endpoint_id set not null;
create unique index webhook_delivery_once on webhook_delivery (event_id, endpoint_id);
drop index webhook_due;
create index webhook_due on webhook_delivery (endpoint_id, attempts, due_at) where state = 'due';
create index webhook_due_at on webhook_delivery (endpoint_id, due_at) where state = 'due';
alter table store drop column webhook_url, drop column webhook_secret;

create table webhook_attempt (
  id bigint generated always as identity primary key,
  delivery_id bigint not null references webhook_delivery,
  endpoint_id bigint not null references webhook_endpoint,
  -- 1 for the first.
  attempt integer not null check (attempt > 0),
  at timestamptz not null,
  duration_ms integer not null,
  -- The answer's status, or why there was none.
  status integer,
  failure text,
  -- Beginning of the answer's body.
  answer text,
  check ((status is null) <> (failure is null))
);
create index webhook_attempt_of_endpoint on webhook_attempt (endpoint_id, id desc);
create index webhook_attempt_of_delivery on webhook_attempt (delivery_id);

-- Answers to calls that carried an Idempotency-Key, for 48 hours.
create table idempotency_key (
  store_id bigint not null references store,
  key text not null check (length(key) between 1 and 255),
  -- Of method, path and body.
  request_sha256 bytea not null,
  created_at timestamptz not null,
  -- While the first call runs; one that was killed is free again after this.
  locked_until timestamptz,
  status integer,
  -- AES-256-GCM: an answer may hold a webhook secret.
  answer bytea,
  primary key (store_id, key)
);
create index idempotency_key_old on idempotency_key (created_at);
