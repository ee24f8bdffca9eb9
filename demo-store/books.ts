/** The books of the store: top-ups, the credits for them, balances of its shoppers, how far it has read the event log. */
import { DatabaseSync } from 'node:sqlite'
import type { DepositEvent } from '../sdk/index.ts'
import { migrate } from './schema.ts'

export type TopUp = {
  externalId: string
  shopper: string
  currency: string
  status: string
  /** Why it ended without items. */
  reason: string | null
  /** Minor units; null until it succeeded. */
  amount: number | null
  held: number
  heldUntil: string | null
  reversed: number
  url: string | null
  createdAt: string
}

/** Minor units; `until` is ISO 8601, for the last part of it. */
export type OnHold = { amount: number; until: string | null }

export type NewTopUp = { externalId: string; shopper: string; currency: string }

const MOST_SHOWN = 8

export type Books = ReturnType<typeof openBooks>

/** Opens the store's database; `:memory:` forgets all at the end. */
export function openBooks(file: string) {
  const db = new DatabaseSync(file)
  migrate(db)
  const statements = prepare(db)
  return {
    begin({ externalId, shopper, currency }: NewTopUp): void {
      statements.insertTopUp.run(externalId, shopper, currency, new Date().toISOString())
    },
    opened(externalId: string, url: string): void {
      statements.setUrl.run(url, externalId)
      statements.startTopUp.run(externalId)
    },
    /** Takes an event: each once by its id, all of it or nothing. */
    take(event: DepositEvent): 'taken' | 'known' {
      db.exec('begin immediate')
      try {
        if (statements.noteEvent.run(event.id).changes === 0) {
          db.exec('rollback')
          return 'known'
        }
        tellTopUp(statements, event)
        const shopper = statements.shopperOf.get(event.data.externalId)?.shopper
        credit(statements, event, String(shopper))
        db.exec('commit')
        return 'taken'
      } catch (error) {
        db.exec('rollback')
        throw error
      }
    },
    /** Position up to which the till's event log has been read. */
    position: (): number => Number(statements.position.get()?.sequence ?? 0),
    readUpTo: (sequence: number): void => void statements.setPosition.run(sequence),
    recent: (shopper: string): TopUp[] => statements.recent.all(shopper, MOST_SHOWN).map(topUpOf),
    /** Minor units by currency. */
    balances: (shopper: string): Record<string, number> =>
      Object.fromEntries(
        statements.balances.all(shopper).map((row) => [String(row.currency), Number(row.amount)]),
      ),
    /** Money that a shopper cannot spend yet, by currency. */
    onHold: (shopper: string): Record<string, OnHold> =>
      Object.fromEntries(
        statements.onHold
          .all(shopper)
          .map(({ currency, amount, until }) => [
            String(currency),
            { amount: Number(amount), until: textOrNull(until) },
          ]),
      ),
    /** Of all shoppers. */
    total: (): Record<string, number> => sumsOf(statements.total.all()),
    /** Our account at the till, held amounts included; payouts are not booked here. */
    account: (): Record<string, number> => sumsOf(statements.account.all()),
    close: () => db.close(),
  }
}

type Statements = ReturnType<typeof prepare>

/** Books the part of an event that is new. */
function credit(statements: Statements, event: DepositEvent, shopper: string): void {
  const { id, currency, amount, reversedAmount, chargedAmount } = event.data
  if (amount === null) return
  // None of them ever shrinks, so the larger one is the newer one, in any order of events.
  const before = statements.creditOf.get(id)
  const next = {
    amount: Math.max(amount, Number(before?.amount ?? 0)),
    reversed: Math.max(reversedAmount, Number(before?.reversed ?? 0)),
    charged: Math.max(chargedAmount ?? 0, Number(before?.charged ?? 0)),
  }
  // The shopper's balance falls by all that was taken back, our account at the till by what that cost us.
  const change = next.amount - next.reversed - Number(before?.amount ?? 0) + Number(before?.reversed ?? 0)
  statements.setCredit.run(id, currency, next.amount, next.reversed, next.charged)
  if (change !== 0) statements.addToBalance.run(shopper, currency, change)
}

function tellTopUp({ tellTopUp }: Statements, { sequence, data: deposit }: DepositEvent): void {
  const { externalId, currency, status, endReason, amount, heldAmount, heldUntil, reversedAmount } = deposit
  tellTopUp.run(
    externalId,
    currency,
    status,
    endReason,
    amount,
    heldAmount,
    heldUntil,
    reversedAmount,
    deposit.url,
    sequence,
    deposit.createdAt,
  )
}

const sumsOf = (rows: Record<string, unknown>[]): Record<string, number> =>
  Object.fromEntries(rows.map((row) => [String(row.currency), Number(row.amount)]))

const textOrNull = (value: unknown): string | null => (value === null ? null : String(value))

const topUpOf = (row: Record<string, unknown>): TopUp => ({
  externalId: String(row.external_id),
  shopper: String(row.shopper),
  currency: String(row.currency),
  status: String(row.status),
  reason: textOrNull(row.reason),
  amount: row.amount === null ? null : Number(row.amount),
  held: Number(row.held),
  heldUntil: textOrNull(row.held_until),
  reversed: Number(row.reversed),
  url: textOrNull(row.url),
  createdAt: String(row.created_at),
})

function prepare(db: DatabaseSync) {
  return {
    insertTopUp: db.prepare(
      "insert into top_up (external_id, shopper, currency, status, created_at) values (?, ?, ?, 'starting', ?)",
    ),
    setUrl: db.prepare('update top_up set url = ? where external_id = ?'),
    startTopUp: db.prepare(
      "update top_up set status = 'created' where external_id = ? and status = 'starting'",
    ),
    shopperOf: db.prepare('select shopper from top_up where external_id = ?'),
    noteEvent: db.prepare('insert into webhook (id) values (?) on conflict do nothing'),
    creditOf: db.prepare('select amount, reversed, charged from credit where deposit_id = ?'),
    setCredit: db.prepare(
      `insert into credit (deposit_id, currency, amount, reversed, charged) values (?, ?, ?, ?, ?)
       on conflict (deposit_id) do update
         set amount = excluded.amount, reversed = excluded.reversed, charged = excluded.charged`,
    ),
    addToBalance: db.prepare(
      `insert into purse (shopper, currency, amount) values (?, ?, ?)
       on conflict (shopper, currency) do update set amount = amount + excluded.amount`,
    ),
    tellTopUp: db.prepare(
      `insert into top_up (external_id, currency, status, reason, amount, held, held_until, reversed, url, sequence, created_at)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       on conflict (external_id) do update
         set status = excluded.status, reason = excluded.reason, amount = excluded.amount, held = excluded.held,
           held_until = excluded.held_until, reversed = excluded.reversed, sequence = excluded.sequence
         where excluded.sequence > top_up.sequence`,
    ),
    position: db.prepare('select sequence from position'),
    setPosition: db.prepare(
      `insert into position (one, sequence) values (1, ?)
       on conflict (one) do update set sequence = max(sequence, excluded.sequence)`,
    ),
    recent: db.prepare(
      "select * from top_up where shopper = ? and status <> 'starting' order by created_at desc, rowid desc limit ?",
    ),
    balances: db.prepare('select currency, amount from purse where shopper = ? order by currency'),
    onHold: db.prepare(
      `select currency, sum(held) as amount, max(held_until) as until from top_up
       where shopper = ? and held > 0 group by currency order by currency`,
    ),
    account: db.prepare(
      'select currency, sum(amount - charged) as amount from credit group by currency order by currency',
    ),
    total: db.prepare(
      'select currency, sum(amount) as amount from purse group by currency order by currency',
    ),
  }
}
