/** What the store remembers: top-ups, what was credited for them, and balances. */
import { DatabaseSync } from 'node:sqlite'
import type { TillEvent } from './till.ts'

export type TopUp = {
  externalId: string
  currency: string
  status: string
  /** Minor units; null until it succeeded. */
  amount: number | null
  url: string | null
  createdAt: string
}

const MOST_SHOWN = 8

/** Events that say what a deposit is worth: its whole amount, whatever was told before. */
const CREDITING: readonly string[] = ['deposit.succeeded', 'deposit.amount_increased']

const SCHEMA = `
  pragma journal_mode = wal;
  pragma synchronous = full;
  create table if not exists top_up (
    external_id text primary key,
    currency text not null,
    status text not null,
    amount integer,
    url text,
    -- Position of the event that this row tells of; what comes later with a smaller one is old news.
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

export type Purse = ReturnType<typeof openPurse>

/** Opens the store's database; `:memory:` forgets all at the end. */
export function openPurse(file: string) {
  const db = new DatabaseSync(file)
  db.exec(SCHEMA)
  const statements = prepare(db)
  return {
    begin(externalId: string, currency: string): void {
      statements.insertTopUp.run(externalId, currency, new Date().toISOString())
    },
    opened(externalId: string, url: string): void {
      statements.setUrl.run(url, externalId)
      statements.startTopUp.run(externalId)
    },
    /** Takes an event: each webhook once, each deposit credited up to its amount, all of it or nothing. */
    take(webhookId: string, { type, sequence, deposit }: TillEvent): 'taken' | 'known' {
      db.exec('begin immediate')
      try {
        if (statements.noteWebhook.run(webhookId).changes === 0) {
          db.exec('rollback')
          return 'known'
        }
        const { id, externalId, currency, status, amount, url, createdAt } = deposit
        statements.tellTopUp.run(externalId, currency, status, amount, url, sequence, createdAt)
        if (amount !== null && CREDITING.includes(type)) {
          const before = Number(statements.creditOf.get(id)?.amount ?? 0)
          if (amount > before) {
            statements.setCredit.run(id, currency, amount)
            statements.addToBalance.run(currency, amount - before)
          }
        }
        db.exec('commit')
        return 'taken'
      } catch (error) {
        db.exec('rollback')
        throw error
      }
    },
    recent: (): TopUp[] =>
      statements.recent.all(MOST_SHOWN).map((row) => ({
        externalId: String(row.external_id),
        currency: String(row.currency),
        status: String(row.status),
        amount: row.amount === null ? null : Number(row.amount),
        url: row.url === null ? null : String(row.url),
        createdAt: String(row.created_at),
      })),
    /** Minor units by currency. */
    balances: (): Record<string, number> =>
      Object.fromEntries(statements.balances.all().map((row) => [String(row.currency), Number(row.amount)])),
    close: () => db.close(),
  }
}

function prepare(db: DatabaseSync) {
  return {
    insertTopUp: db.prepare(
      "insert into top_up (external_id, currency, status, created_at) values (?, ?, 'starting', ?)",
    ),
    setUrl: db.prepare('update top_up set url = ? where external_id = ?'),
    startTopUp: db.prepare(
      "update top_up set status = 'created' where external_id = ? and status = 'starting'",
    ),
    noteWebhook: db.prepare('insert into webhook (id) values (?) on conflict do nothing'),
    creditOf: db.prepare('select amount from credit where deposit_id = ?'),
    setCredit: db.prepare(
      `insert into credit (deposit_id, currency, amount) values (?, ?, ?)
       on conflict (deposit_id) do update set amount = excluded.amount`,
    ),
    addToBalance: db.prepare(
      `insert into balance (currency, amount) values (?, ?)
       on conflict (currency) do update set amount = amount + excluded.amount`,
    ),
    tellTopUp: db.prepare(
      `insert into top_up (external_id, currency, status, amount, url, sequence, created_at)
       values (?, ?, ?, ?, ?, ?, ?)
       on conflict (external_id) do update
         set status = excluded.status, amount = excluded.amount, sequence = excluded.sequence
         where excluded.sequence > top_up.sequence`,
    ),
    recent: db.prepare(
      "select * from top_up where status <> 'starting' order by created_at desc, rowid desc limit ?",
    ),
    balances: db.prepare('select currency, amount from balance order by currency'),
  }
}
