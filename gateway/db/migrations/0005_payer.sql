-- oldest version: 0.3.0
-- Who may pay: the Steam account that a store expects, and the accounts that the operator denies.

-- The 64-bit Steam id of the shopper, if the store gave one.
alter table deposit add column shopper_steam_id text check (shopper_steam_id ~ '^76561\d{12}$');
-- Whether only that account may pay.
alter table deposit add column shopper_locked boolean not null default false
  check (not shopper_locked or shopper_steam_id is not null);
-- The store's name for the balance that is credited, shown on the deposit page.
alter table deposit add column customer_label text check (length(customer_label) between 1 and 64);

create table denied_shopper (
  steam_id text primary key check (steam_id ~ '^76561\d{12}$'),
  reason text not null,
  denied_at timestamptz not null
);
