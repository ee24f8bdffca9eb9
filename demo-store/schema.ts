import type { DatabaseSync } from 'node:sqlite'
import { FIRST_SHOPPER } from './visitor.ts'

const FIRST_TABLES = `
  pragma journal_mode = wal;
  pragma synchronous = full;
  create table if not exists top_up (
    external_id text primary key,
    currency text not null,
    status text not null,
    amount integer,
    url text,
    -- Sequence of the event that this row reflects. Only an event with a larger sequence changes the row.
    sequence integer not null default 0,
    created_at text not null
  ) strict;
  create table if not exists credit (
    deposit_id text primary key,
    currency text not null,
    amount integer not null check (amount > 0)
  ) strict;
  create table if not exists balance (
    currency text primary key,
    amount integer not null
  ) strict;
  create table if not exists webhook (id text primary key) strict;
`

/** Migrations. Each runs once; `user_version` counts them. */
const STEPS = [
  `alter table top_up add column shopper text not null default '${FIRST_SHOPPER}';
  alter table top_up add column reason text;
  alter table top_up add column held integer not null default 0;
  alter table top_up add column held_until text;
  alter table top_up add column reversed integer not null default 0;
  alter table credit add column reversed integer not null default 0;
  create table purse (
    shopper text not null,
    currency text not null,
    amount integer not null,
    primary key (shopper, currency)
  ) strict;
  insert into purse select '${FIRST_SHOPPER}', currency, amount from balance;
  drop table balance;
  create table position (one integer primary key check (one = 1), sequence integer not null) strict;`,
  `alter table credit add column charged integer not null default 0;`,
  // Earlier credits get the sequence of the last event that was read.
  `alter table credit rename to credit_before;
  create table credit (
    deposit_id text primary key,
    currency text not null,
    sequence integer not null,
    spendable integer not null,
    amount integer not null,
    charged integer not null
  ) strict;
  insert into credit select deposit_id, currency, coalesce((select sequence from position), 0), amount - reversed,
    amount, charged from credit_before;
  drop table credit_before;
  drop table webhook;
  alter table top_up add column wants text;
  alter table top_up add column bought integer not null default 0;
  create table cart (
    shopper text not null,
    good text not null,
    count integer not null check (count between 1 and 9),
    primary key (shopper, good)
  ) strict;
  create table purchase (
    id integer primary key,
    shopper text not null,
    currency text not null,
    amount integer not null,
    goods text not null,
    created_at text not null
  ) strict;`,
  // The payment's number at the till, and its receipt. A top-up of an earlier version gets both with its next event.
  `alter table top_up add column deposit text;
  alter table top_up add column receipt text;`,
]

export function migrate(db: DatabaseSync): void {
  const version = Number(db.prepare('pragma user_version').get()?.user_version ?? 0)
  if (version === 0) db.exec(FIRST_TABLES)
  for (const [index, step] of STEPS.entries()) {
    if (index >= version) db.exec(`begin; ${step} pragma user_version = ${index + 1}; commit;`)
  }
}
