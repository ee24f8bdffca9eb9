-- oldest version: 0.3.0
-- Sales of items on markets, and the money that they bring.

-- One listing of an item, and what became of it.
create table sale (
  id bigint generated always as identity primary key,
  market text not null check (market ~ '^[a-z0-9][a-z0-9.-]{0,39}$'),
  -- The market's id of the listing. For a sale recorded by hand: the operator's reference.
  reference text not null check (length(reference) between 1 and 128),
  -- The item: its trade, and its id in the shopper's inventory.
  trade_id bigint not null,
  asset_id text not null,
  app_id integer not null,
  -- The item's id in the inventory of the account that sells it. Null: only the operator knows it.
  listed_asset_id text,
  -- SaleState in gateway/db/sale-tables.ts explains the values.
  state text not null check (state in ('listed', 'sold', 'delivered', 'settling', 'paid', 'refused', 'cancelled', 'late', 'reversed')),
  currency text not null check (currency in ('USD', 'EUR', 'BRL')),
  price bigint not null check (price > 0),
  -- What the market pays for it. Null until the market has reported it.
  received bigint check (received between 0 and price),
  -- What the market paid although the sale was reversed.
  refund bigint not null default 0 check (refund >= 0),
  causer text check (causer in ('buyer', 'seller', 'unknown')),
  steam_trade_id text,
  by_hand boolean not null default false,
  listed_at timestamptz not null,
  sold_at timestamptz,
  settles_at timestamptz,
  ended_at timestamptz,
  -- How many times the sale was saved. market_entry.step is the number of the save that wrote the entry.
  steps integer not null default 0,
  unique (market, reference),
  foreign key (trade_id, asset_id) references trade_item,
  check (received is not null or state not in ('settling', 'paid')),
  check ((state = 'reversed') = (causer is not null))
);
-- Over all markets together, an item has at most one sale that is under way, paid or late.
create unique index sale_one_live on sale (trade_id, asset_id)
  where state in ('listed', 'sold', 'delivered', 'settling', 'paid', 'late');
create index sale_of_item on sale (trade_id, asset_id);
create index sale_sold on sale (sold_at, id) where sold_at is not null;

-- The books of a market. A balance is credits less debits, so our money on the market is a negative balance.
create table market_account (
  id bigint generated always as identity primary key,
  market text not null,
  -- MarketAccountKind in gateway/db/sale-tables.ts explains the values.
  kind text not null check (kind in ('settling', 'free', 'fees', 'sales')),
  currency text not null check (currency in ('USD', 'EUR', 'BRL')),
  balance bigint not null default 0,
  unique (market, kind, currency)
);

create table market_entry (
  id bigint generated always as identity primary key,
  sale_id bigint not null references sale,
  step integer not null,
  debit_account bigint not null references market_account,
  credit_account bigint not null references market_account,
  amount bigint not null check (amount > 0),
  created_at timestamptz not null default till_now(),
  check (debit_account <> credit_account),
  unique (sale_id, step, debit_account, credit_account)
);
create index market_entry_debit on market_entry (debit_account);
create index market_entry_credit on market_entry (credit_account);
create trigger market_entry_append_only before update or delete or truncate on market_entry
  for each statement execute function refuse_change();

-- Our balance on a market, as the market last reported it.
create table market_balance (
  market text not null,
  currency text not null check (currency in ('USD', 'EUR', 'BRL')),
  settling bigint not null,
  free bigint not null,
  said_at timestamptz not null,
  primary key (market, currency)
);
