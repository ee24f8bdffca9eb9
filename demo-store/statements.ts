import type { DatabaseSync } from 'node:sqlite'

export type Statements = ReturnType<typeof prepare>

export function prepare(db: DatabaseSync) {
  return { ...topUpStatements(db), ...moneyStatements(db), ...goodsStatements(db) }
}

function topUpStatements(db: DatabaseSync) {
  return {
    // 'starting': the till has not confirmed that it opened the deposit.
    insertTopUp: db.prepare(
      "insert into top_up (external_id, shopper, currency, status, wants, created_at) values (?, ?, ?, 'starting', ?, ?)",
    ),
    setDeposit: db.prepare('update top_up set deposit = ?, url = ? where external_id = ?'),
    confirmTopUp: db.prepare(
      "update top_up set status = 'created' where external_id = ? and status = 'starting'",
    ),
    topUp: db.prepare('select * from top_up where external_id = ?'),
    saveTopUp: db.prepare(
      `insert into top_up (external_id, shopper, currency, status, reason, amount, held, held_until, reversed, deposit, url, receipt, sequence, created_at)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       on conflict (external_id) do update
         set status = excluded.status, reason = excluded.reason, amount = excluded.amount, held = excluded.held,
           held_until = excluded.held_until, reversed = excluded.reversed, deposit = excluded.deposit,
           receipt = excluded.receipt, sequence = excluded.sequence
         where excluded.sequence > top_up.sequence`,
    ),
    endOrder: db.prepare('update top_up set wants = null where external_id = ?'),
    markBought: db.prepare('update top_up set bought = 1 where external_id = ?'),
    recent: db.prepare(
      "select * from top_up where shopper = ? and status <> 'starting' order by created_at desc, rowid desc limit ?",
    ),
    cursor: db.prepare('select sequence from position'),
    setCursor: db.prepare(
      `insert into position (one, sequence) values (1, ?)
       on conflict (one) do update set sequence = max(sequence, excluded.sequence)`,
    ),
  }
}

function moneyStatements(db: DatabaseSync) {
  return {
    creditOf: db.prepare('select sequence, spendable from credit where deposit_id = ?'),
    setCredit: db.prepare(
      `insert into credit (deposit_id, currency, sequence, spendable, amount, charged) values (?, ?, ?, ?, ?, ?)
       on conflict (deposit_id) do update set sequence = excluded.sequence, spendable = excluded.spendable,
         amount = excluded.amount, charged = excluded.charged`,
    ),
    addToBalance: db.prepare(
      `insert into purse (shopper, currency, amount) values (?, ?, ?)
       on conflict (shopper, currency) do update set amount = amount + excluded.amount`,
    ),
    balance: db.prepare('select amount from purse where shopper = ? and currency = ?'),
    balances: db.prepare('select currency, amount from purse where shopper = ? order by currency'),
    onHold: db.prepare(
      `select currency, sum(held) as amount, max(held_until) as until from top_up
       where shopper = ? and held > 0 group by currency order by currency`,
    ),
    sumsAtTill: db.prepare(
      'select currency, sum(amount - charged) as amount from credit group by currency order by currency',
    ),
    sumsOfBalances: db.prepare(
      'select currency, sum(amount) as amount from purse group by currency order by currency',
    ),
  }
}

function goodsStatements(db: DatabaseSync) {
  return {
    cart: db.prepare('select good, count from cart where shopper = ? order by rowid'),
    addOne: db.prepare(
      `insert into cart (shopper, good, count) values (?, ?, 1)
       on conflict (shopper, good) do update set count = min(count + 1, 9)`,
    ),
    /** Removes the good if the cart has this many or fewer. */
    removeAll: db.prepare('delete from cart where shopper = ? and good = ? and count <= ?'),
    removeSome: db.prepare('update cart set count = count - ? where shopper = ? and good = ?'),
    insertPurchase: db.prepare(
      'insert into purchase (shopper, currency, amount, goods, created_at) values (?, ?, ?, ?, ?)',
    ),
    bought: db.prepare('select goods from purchase where shopper = ? order by id desc limit 200'),
  }
}
