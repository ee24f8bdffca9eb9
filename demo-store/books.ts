import { DatabaseSync } from 'node:sqlite'
import { type CreditStore, type Deposit, type DepositEvent, takeOnce } from '../sdk/index.ts'
import type { Cart } from './goods.ts'
import { migrate } from './schema.ts'
import { prepare, type Statements } from './statements.ts'
import { FIRST_SHOPPER } from './visitor.ts'

export type TopUp = {
  externalId: string
  /** The till's number of the payment, which a shopper gives to support; null until the till has answered. */
  depositId: string | null
  shopper: string
  currency: string
  status: string
  /** Why the top-up ended without items; null if it did not. */
  reason: string | null
  /** The amounts are minor units. `amount` is null until the top-up has succeeded. */
  amount: number | null
  held: number
  heldUntil: string | null
  reversed: number
  /** The state of the cart for which the top-up pays, if there is one. */
  cart: 'none' | 'waiting' | 'bought'
  url: string | null
  /** A page that the shopper can show to support; null until the payment has ended. */
  receiptUrl: string | null
  createdAt: string
}

/** `amount` is in minor units. `until`: when its last part is released, ISO 8601. */
export type OnHold = { amount: number; until: string | null }

/** `amount`: the price of the goods, in minor units. */
export type Order = { goods: Cart; amount: number }

export type NewTopUp = { externalId: string; shopper: string; currency: string; wants?: Order | undefined }

const MOST_TOP_UPS_SHOWN = 8

export type Books = ReturnType<typeof openBooks>

/** Opens the store's database; `:memory:` keeps nothing. */
export function openBooks(file: string) {
  const db = new DatabaseSync(file)
  migrate(db)
  const statements = prepare(db)
  const inTransaction = <T>(work: () => T): T => {
    db.exec('begin immediate')
    try {
      const result = work()
      db.exec('commit')
      return result
    } catch (error) {
      db.exec('rollback')
      throw error
    }
  }
  const update: CreditStore['update'] = (deposit, decide) =>
    inTransaction(() => void credit(statements, deposit, decide))
  return {
    addTopUp({ externalId, shopper, currency, wants }: NewTopUp): void {
      const order = wants === undefined ? null : JSON.stringify(wants)
      statements.insertTopUp.run(externalId, shopper, currency, order, new Date().toISOString())
    },
    /** Records the till's answer to the creation of a top-up's deposit. */
    setDeposit(externalId: string, { id, url }: Pick<Deposit, 'id' | 'url'>): void {
      statements.setDeposit.run(id, url, externalId)
      statements.confirmTopUp.run(externalId)
    },
    log: {
      update,
      /** The sequence of the last event that was read from the till's log. */
      cursor: (): number => Number(statements.cursor.get()?.sequence ?? 0),
      saveCursor: (sequence) => void statements.setCursor.run(sequence),
    } satisfies CreditStore,
    /**
     * Books an event in one transaction. Returns the change of the deposit's spendable credit; undefined if this event
     * or a later one of the deposit was booked before.
     */
    async take(event: DepositEvent): Promise<number | undefined> {
      let change: number | undefined
      await takeOnce(
        {
          update: (deposit, decide) => {
            change = inTransaction(() => credit(statements, deposit, decide))
          },
        },
        event,
      )
      return change
    },
    ...readsOf(statements),
    changeCart(shopper: string, goodId: string, by: 'more' | 'less'): void {
      if (by === 'more') statements.addOne.run(shopper, goodId)
      else takeFromCart(statements, shopper, { [goodId]: 1 })
    },
    /** False if the balance is too small. */
    buy: (shopper: string, currency: string, order: Order): boolean =>
      inTransaction(() => buy(statements, { shopper, currency, order })),
    close: () => db.close(),
  }
}

function readsOf(statements: Statements) {
  return {
    topUp(externalId: string): TopUp | undefined {
      const row = statements.topUp.get(externalId)
      return row && topUpOf(row)
    },
    recent: (shopper: string): TopUp[] => statements.recent.all(shopper, MOST_TOP_UPS_SHOWN).map(topUpOf),
    /** Money that a shopper may spend: minor units by currency. Below zero if spent credit was taken back. */
    balances: (shopper: string): Record<string, number> => sumsOf(statements.balances.all(shopper)),
    onHold: (shopper: string): Record<string, OnHold> =>
      Object.fromEntries(
        statements.onHold
          .all(shopper)
          .map(({ currency, amount, until }) => [
            String(currency),
            { amount: Number(amount), until: textOrNull(until) },
          ]),
      ),
    /** The sum of all shoppers' balances, by currency. Balances below zero lower it. */
    total: (): Record<string, number> => sumsOf(statements.sumsOfBalances.all()),
    /** The store's account at the till, held amounts included. Payouts are not booked here. */
    account: (): Record<string, number> => sumsOf(statements.sumsAtTill.all()),
    cart: (shopper: string): Cart => cartOf(statements, shopper),
    /** Returns how many of each good a shopper has bought in the latest 200 purchases. */
    bought(shopper: string): Cart {
      const counts: Cart = {}
      for (const { goods } of statements.bought.all(shopper)) {
        for (const [id, count] of Object.entries(JSON.parse(String(goods)) as Cart)) {
          counts[id] = (counts[id] ?? 0) + count
        }
      }
      return counts
    },
  }
}

/**
 * Books the change that `decide` of the SDK computes, and buys the top-up's goods once the balance suffices. If the
 * shopper took items back before that, or no longer has the goods in the cart, the order ends, and the credit stays in
 * the balance.
 */
function credit(
  statements: Statements,
  deposit: Deposit,
  decide: Parameters<CreditStore['update']>[1],
): number | undefined {
  const { id, externalId, currency, amount, chargedAmount, reversedAmount } = deposit
  const row = statements.creditOf.get(id)
  const settled = decide(row && { sequence: Number(row.sequence), spendable: Number(row.spendable) })
  if (settled === undefined) return undefined
  const { sequence, spendable } = settled.kept
  statements.setCredit.run(id, currency, sequence, spendable, amount ?? 0, chargedAmount ?? 0)
  recordTopUp(statements, deposit, sequence)
  const topUp = statements.topUp.get(externalId)
  const shopper = String(topUp?.shopper)
  if (settled.change !== 0) statements.addToBalance.run(shopper, currency, settled.change)
  const wants = textOrNull(topUp?.wants)
  if (amount !== null && wants !== null && topUp?.bought === 0) {
    const order = JSON.parse(wants) as Order
    if (reversedAmount > 0 || !hasInCart(statements, shopper, order)) statements.endOrder.run(externalId)
    else if (buy(statements, { shopper, currency, order })) statements.markBought.run(externalId)
  }
  return settled.change
}

type Purchase = { shopper: string; currency: string; order: Order }

function buy(statements: Statements, { shopper, currency, order }: Purchase): boolean {
  const balance = Number(statements.balance.get(shopper, currency)?.amount ?? 0)
  if (balance < order.amount) return false
  statements.addToBalance.run(shopper, currency, -order.amount)
  const now = new Date().toISOString()
  statements.insertPurchase.run(shopper, currency, order.amount, JSON.stringify(order.goods), now)
  takeFromCart(statements, shopper, order.goods)
  return true
}

function takeFromCart(statements: Statements, shopper: string, goods: Cart): void {
  for (const [good, count] of Object.entries(goods)) {
    statements.removeAll.run(shopper, good, count)
    statements.removeSome.run(count, shopper, good)
  }
}

/** False if the shopper has bought the goods in another way since, or no longer wants them. */
function hasInCart(statements: Statements, shopper: string, { goods }: Order): boolean {
  const cart = cartOf(statements, shopper)
  return Object.entries(goods).every(([good, count]) => (cart[good] ?? 0) >= count)
}

const cartOf = (statements: Statements, shopper: string): Cart =>
  Object.fromEntries(statements.cart.all(shopper).map(({ good, count }) => [String(good), Number(count)]))

function recordTopUp({ saveTopUp }: Statements, deposit: Deposit, sequence: number): void {
  const { externalId, currency, status, endReason, amount, heldAmount, heldUntil, reversedAmount } = deposit
  saveTopUp.run(
    externalId,
    // For a top-up without a row, for example after the store was restored from a backup. The deposit still names the
    // shopper.
    deposit.customerReference ?? FIRST_SHOPPER,
    currency,
    status,
    endReason,
    amount,
    heldAmount,
    heldUntil,
    reversedAmount,
    deposit.id,
    deposit.url,
    // Events of version 0.2.0 and earlier lack this field.
    deposit.receiptUrl ?? null,
    sequence,
    deposit.createdAt,
  )
}

const sumsOf = (rows: Record<string, unknown>[]): Record<string, number> =>
  Object.fromEntries(rows.map((row) => [String(row.currency), Number(row.amount)]))

const textOrNull = (value: unknown): string | null =>
  value === null || value === undefined ? null : String(value)

const topUpOf = (row: Record<string, unknown>): TopUp => ({
  externalId: String(row.external_id),
  depositId: textOrNull(row.deposit),
  shopper: String(row.shopper),
  currency: String(row.currency),
  status: String(row.status),
  reason: textOrNull(row.reason),
  amount: row.amount === null ? null : Number(row.amount),
  held: Number(row.held),
  heldUntil: textOrNull(row.held_until),
  reversed: Number(row.reversed),
  cart: row.wants === null ? 'none' : Number(row.bought) === 1 ? 'bought' : 'waiting',
  url: textOrNull(row.url),
  receiptUrl: textOrNull(row.receipt),
  createdAt: String(row.created_at),
})
