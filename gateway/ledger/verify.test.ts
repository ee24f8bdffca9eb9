import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CURRENCIES } from '../../contract/money.ts'
import { createMetrics } from '../metrics.ts'
import { payFor } from '../testing/payment.ts'
import { testPool } from '../testing/pool.ts'
import { aBot, aDeposit, aStore, startTill, type Till } from '../testing/till.ts'
import { tradeHandlers } from '../trades/advance.ts'
import { checkLedger } from './jobs.ts'
import { verifyLedger } from './verify.ts'

const UNFOUNDED_LOSS = `insert into lost_credit (trade_id, store_id, usd_cents, until)
  select min(id), 1, 1, now() from trade`

let till: Till
let pool: pg.Pool
/** The findings on an empty till. */
let whenEmpty: string[]

// All tests share one database, so the damage of a test is never committed.
beforeAll(async () => {
  till = await startTill()
  pool = testPool(till.url)
  // A discarded connection is not a failure.
  pool.on('error', () => {})
  whenEmpty = await problems(pool)
  await writeEntries()
})
afterAll(async () => {
  await pool.end()
  await till.close()
})

/** Two stores, with a final trade, two held ones, a partly reversed one, and a deposit without a trade. */
async function writeEntries() {
  const stores = [await aStore(till, { riskLimitUsdCents: 2_500n }), await aStore(till)]
  const { bot, session } = await aBot(till)
  for (const [index, store] of [...stores, ...stores].entries()) {
    const deposit = await aDeposit(till, store, { game: index === 0 ? 'dota' : 'cs' })
    await payFor(till, { bot, session }, deposit)
    // 9002 is the second trade on Steam.
    if (index === 1) session.takeBack('9002', deposit.body.items.slice(0, 1))
  }
  await till.db
    .updateTable('trade')
    .set({ settles_at: till.clock.now() })
    .where('steam_trade_id', '=', '9002')
    .execute()
  const handlers = tradeHandlers({ ...till.deps, protectionDays: () => 0 })
  const trades = await till.db.selectFrom('trade').select('id').orderBy('id').execute()
  for (const { id } of trades) await handlers.trade(bot, id)
  await aDeposit(till, stores[0] ?? { id: 0n })
}

type Connector = Parameters<typeof verifyLedger>[0]

const problems = async (connector: Connector) => [
  ...new Set((await verifyLedger(connector)).map(({ problem }) => problem)),
]

type Query = (statement: string, values?: unknown[]) => Promise<pg.QueryResult>

/** Runs the check's transactions as savepoints. A discarded connection rolls back to the open savepoint. */
function within(client: pg.PoolClient, wrap: (query: Query) => Query = (query) => query): Connector {
  let isOpen = false
  const query: Query = (statement, values) => {
    if (!/^(begin|commit)/.test(statement)) return client.query(statement, values)
    isOpen = statement.startsWith('begin')
    return client.query(isOpen ? 'savepoint part' : 'release savepoint part')
  }
  const release = (isBroken = false) => {
    if (isBroken && isOpen) void client.query('rollback to savepoint part')
    isOpen = false
  }
  // The check uses nothing else of a pool.
  return { connect: async () => ({ query: wrap(query), release }) } as unknown as Connector
}

/** Damages rows as only a superuser can, runs `inspect` on them, and rolls the damage back. */
async function withDamage<T>(
  damage: string,
  inspect: (connector: Connector, client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    await client.query('set local session_replication_role = replica')
    await client.query(damage)
    return await inspect(within(client), client)
  } finally {
    await client.query('rollback')
    client.release()
  }
}

describe('the check of the ledger', () => {
  it('I1 I3 I13 finds nothing wrong in entries that the till wrote', async () => {
    expect(whenEmpty).toEqual([])
    expect(await problems(pool)).toEqual([])
    const { rows } = await pool.query('select distinct cause from ledger_entry order by cause')
    expect(rows.map(({ cause }) => cause)).toEqual([
      'commission',
      'commission_reversed',
      'delivered',
      'released',
      'reversed',
    ])
  })

  it.each<[string, string]>([
    [
      'the balances of a currency do not sum to zero',
      `update account set balance = balance + 1 where kind = 'items'`,
    ],
    [
      'a balance is not the sum of its entries',
      `update account set balance = balance + 1 where kind = 'available'`,
    ],
    [
      'a balance is below its floor',
      `alter table account drop constraint account_floor;
      update account set floor = balance + 1 where kind = 'available'`,
    ],
    [
      'the held balance of a store is not the sum over its deposits',
      'update deposit set held_amount = held_amount + 1 where id = (select min(id) from deposit where held_amount > 0)',
    ],
    [
      'the reversed total of a store is not the sum over its deposits',
      'update reversed_total set amount = amount + 1',
    ],
    ['the reversed total of a store is not the sum over its deposits', 'delete from reversed_total'],
    [
      'a deposit is not charged with what its reversals cost its store',
      'update deposit set charged_amount = charged_amount - 1 where charged_amount > 0',
    ],
    [
      'the available balance of a store is not what remains from its deposits, less its payouts, with its adjustments',
      'update deposit set charged_amount = charged_amount + 1 where id = (select min(id) from deposit)',
    ],
    [
      'an entry is not in the currency of its accounts',
      `update ledger_entry set currency = 'EUR' where id = 1`,
    ],
    [
      'an entry moves money of another store',
      `update ledger_entry set credit_account = (select max(id) from account where store_id is not null)
       where id = (select min(e.id) from ledger_entry e join account a on a.id = e.credit_account
         where a.store_id = (select min(id) from store))`,
    ],
    [
      'an entry has a different quote, rate or currency from its trade',
      'update ledger_entry set rate_id = (select max(id) from exchange_rate) where id = 1',
    ],
    [
      'an entry belongs to a trade that was not delivered',
      `update trade set delivered_at = null where id = (select min(id) from trade)`,
    ],
    [
      'a delivered trade is not credited with its total and commission',
      'delete from ledger_entry where id = 1',
    ],
    [
      'a trade is not worth the sum of its items',
      'update trade set total = total - 1 where id = (select min(id) from trade)',
    ],
    [
      'the held amount of a trade differs from the ledger',
      `update trade set held_amount = held_amount - 1 where state = 'held'`,
    ],
    [
      'the postings of a reversal do not match its items',
      'update trade_item set reversed_at = now() where reversed_at is null and trade_id = (select max(id) from trade)',
    ],
    [
      'the state of a trade contradicts its delivery or amounts',
      `update trade set state = 'declined' where id = (select min(id) from trade)`,
    ],
    [
      'a delivered trade has no terms',
      `alter table trade drop constraint trade_terms_at_delivery;
      update trade set liability = null where delivered_at is not null`,
    ],
    [
      'a trade on release has available credit before protection ends',
      `update trade set credit_mode = 'on_release' where state = 'held'`,
    ],
    ...[
      `at_risk_amount = at_risk_amount - 1 where state = 'held' and at_risk_amount > 0`,
      `protection_found_at = now(), at_risk_amount = total - 1 where state = 'held' and reversed_amount = 0`,
      `protection_found_at = now(), at_risk_amount = 0 where state = 'held' and reversed_amount = 0`,
    ].map((change): [string, string] => [
      'the at-risk amount of a trade is not what was credited before protection ended',
      `update trade set ${change}`,
    ]),
    [
      'at its last early credit, a store had more credit at risk than its limit',
      `update trade set risk_limit_usd_cents = risk_limit_usd_cents - 1 where state = 'held'`,
    ],
    [
      'the at-risk amount of a store is not the sum of its trades',
      'update credit_at_risk set usd_cents = usd_cents + 1',
    ],
    ['the at-risk amount of a store is not the sum of its trades', 'delete from credit_at_risk'],
    ['a stored loss is not what its trade lost', UNFOUNDED_LOSS],
    [
      'a reversal is not borne by the party named in the terms of its trade',
      `update ledger_entry set debit_account = (select min(id) from account where kind = 'available')
       where cause = 'reversed'`,
    ],
    [
      'a deposit is not credited with what its trades brought',
      `update deposit set credited_amount = credited_amount + 1 where status = 'succeeded'`,
    ],
    ['a deposit has no event for its status', `delete from event where type = 'deposit.succeeded'`],
    [
      'an operator credited a trade without a record of it',
      'update trade set credited_by_operator = true where delivered_at is not null',
    ],
    [
      'an operator released a trade without a record of it',
      `update trade set released_by_operator = true where state = 'final'`,
    ],
    [
      'an operator reversed a trade without a record of it',
      `update trade set reversed_by_operator = true where state = 'reversed' or state = 'final'`,
    ],
    [
      'an operator ended a trade without a record of it',
      `update trade set reason = 'ended_by_operator' where id = 1`,
    ],
    [
      'a trade ended with its bot, which no operator retired',
      `update trade set reason = 'bot_retired' where id = 1`,
    ],
    ...['trade credit', 'trade release', 'trade reverse'].map((act): [string, string] => [
      "the record of an operator's act contradicts the trade",
      `insert into operator_act (at, operator, act, arguments)
       values (now(), 'Ada', '${act}', '{"tradeId": "1", "steamTradeId": "9001"}')`,
    ]),
    [
      "the record of an operator's act contradicts the trade",
      `insert into operator_act (at, operator, act, arguments) values (now(), 'Ada', 'trade end', '{"tradeId": "99"}')`,
    ],
    ['the arrival of an item is not booked, or booked wrongly', `delete from custody_entry where id = 1`],
    [
      'an item went back without a reversal, or the other way round',
      `delete from custody_entry where moved = 'back'`,
    ],
    [
      'an item that no trade brought is in custody',
      `update trade set delivered_at = null where id = (select min(id) from trade)`,
    ],
    [
      'a custody entry does not follow from the one before it',
      `update custody_entry set bot_id = 0 where moved = 'back'`,
    ],
    [
      'the stored number of items of a bot is wrong',
      'update bot set items_counted_to = (select max(id) from custody_entry)',
    ],
    [
      'the stored number of items of a bot in a game is wrong',
      `insert into bot_games (bot_id, items) select min(id), '{"730": 1}' from bot`,
    ],
    ['the list of items in hand differs from custody', 'insert into held_items_mark values (true, 99)'],
  ])('finds that %s', async (problem, damage) => {
    expect(await withDamage(damage, problems)).toContain(problem)
  })

  it.each(CURRENCIES)('finds an amount in %s that no deposit of the store holds', async (currency) => {
    const damage = `
      insert into account (store_id, kind, currency, balance) select min(id), 'held', '${currency}', 1 from store
      on conflict (store_id, kind, currency) do update set balance = account.balance + 1`
    expect(await withDamage(damage, problems)).toContain(
      'the held balance of a store is not the sum over its deposits',
    )
  })
})

describe('the gateway’s check of the ledger', () => {
  const metrics = createMetrics()
  const check = (connector: Connector) => checkLedger({ pool: connector, log: till.deps.log, metrics })
  const metric = async (name: string) =>
    new RegExp(`^tradetill_ledger_${name} (.*)$`, 'm').exec(await metrics.registry.metrics())?.[1]
  /** Makes a complete check due. */
  const MAKE_DUE = 'update ledger_check set begun_at = null, complete_at = null;'
  /** Makes the entries look as if they were written after the last check. */
  const MAKE_NEW = 'update ledger_check set verified_entry = 0; delete from verified_balance;'

  it('logs what a complete check finds, and shows when it ran', async () => {
    expect([await metric('differences'), await metric('checked_timestamp_seconds')]).toEqual(['Nan', 'Nan'])
    const { rows: before } = await pool.query('select extract(epoch from clock_timestamp())::float8 as s')
    await check(pool)
    expect(await metric('differences')).toBe('0')
    const { rows: after } = await pool.query('select extract(epoch from clock_timestamp())::float8 as s')
    const checkedS = Number(await metric('checked_timestamp_seconds'))
    expect(checkedS).toBeGreaterThanOrEqual(before[0]?.s)
    expect(checkedS).toBeLessThanOrEqual(after[0]?.s)
    await withDamage(`${MAKE_DUE} update account set balance = 1 where kind = 'commission'`, check)
    // The balance differs from its entries, and the sum of all balances from zero.
    expect(await metric('differences')).toBe('2')
    expect(till.lines.join('')).toContain('the ledger does not agree with itself')
  })

  it.each([
    ['a balance', `update account set balance = balance + 1 where kind = 'commission'`],
    ['a trade', `update trade set held_amount = held_amount - 1 where state = 'held'`],
    ['a deposit', `update deposit set credited_amount = credited_amount + 1 where status = 'succeeded'`],
    ['the custody of an item', 'delete from custody_entry where id = 1'],
  ])('finds damage to %s by checking only the entries since the last check', async (_name, damage) => {
    await withDamage(`${MAKE_NEW} ${damage}`, check)
    expect(Number(await metric('differences'))).toBeGreaterThan(0)
  })

  it('finds nothing in correct entries, and checks each once', async () => {
    await withDamage(MAKE_NEW, async (connector) => {
      await check(connector)
      const client = await connector.connect()
      const { rows } = await client.query('select verified_entry, differences from ledger_check')
      const { rows: last } = await client.query(
        'select max(id) as verified_entry, 0 as differences from ledger_entry',
      )
      expect(rows).toEqual(last)
      await client.query(`update trade set held_amount = held_amount - 1 where state = 'held'`)
      await check(connector)
    })
    expect(await metric('differences')).toBe('0')
  })

  it('runs in one process at a time', async () => {
    const TAKE = `${MAKE_DUE} update ledger_check set taken_until = now() + interval '1 minute';`
    await withDamage(`${TAKE} update account set balance = 1 where kind = 'commission'`, check)
    expect(await metric('differences')).toBe('0')
  })

  it('does not count as clean if it failed, or while a complete check has not ended', async () => {
    const refused = withDamage(`${MAKE_DUE} drop table custody_entry cascade`, check)
    await expect(refused).rejects.toThrow('custody_entry')
    expect(await metric('differences')).toBe('Nan')
    await check(pool)
    expect(await metric('differences')).toBe('0')
    await withDamage('update ledger_check set begun_at = clock_timestamp()', check)
    expect(await metric('differences')).toBe('Nan')
  })

  /** True for the statement of the check that examines a part of the entries. */
  const isPart = (statement: string) => statement.trimStart().startsWith('with scope')

  it('runs again each time that it fails on the newest entries, and does not count as clean', async () => {
    await withDamage(MAKE_NEW, async (_by, client) => {
      const failing = within(client, (query) => (statement, values) => {
        if (isPart(statement)) return Promise.reject(new Error('too slow'))
        return query(statement, values)
      })
      for (let minute = 0; minute < 3; minute += 1) {
        await expect(check(failing)).rejects.toThrow('too slow')
        expect(await metric('differences')).toBe('Nan')
      }
    })
  })

  /** Finds accounts whose balance differs from the stored sum of their entries. */
  const wrongSums = (client: pg.PoolClient) =>
    client.query(`select account.id from account left join verified_balance kept on kept.account_id = account.id
      where account.balance <> coalesce(kept.balance, 0)`)

  it('counts no entry twice if a slow process is overtaken', async () => {
    await withDamage(MAKE_NEW, async (connector, client) => {
      let isOvertaken = false
      const slow = within(client, (query) => async (statement, values) => {
        if (isPart(statement) && !isOvertaken) {
          isOvertaken = true
          await client.query(`update ledger_check set taken_until = now() - interval '1 second'`)
          await check(connector)
        }
        return query(statement, values)
      })
      await check(slow)
      expect(isOvertaken).toBe(true)
      expect((await wrongSums(client)).rows).toEqual([])
    })
    expect(await metric('differences')).toBe('0')
  })

  it('keeps its sums consistent if the process dies during a complete check', async () => {
    await withDamage(MAKE_NEW, async (connector, client) => {
      await check(connector)
      expect((await wrongSums(client)).rows).toEqual([])
      const dying = within(client, (query) => (statement, values) => {
        if (statement.includes('insert into verified_balance')) return Promise.reject(new Error('killed'))
        return query(statement, values)
      })
      await client.query(MAKE_DUE)
      await expect(check(dying)).rejects.toThrow('killed')
      expect((await wrongSums(client)).rows).toEqual([])
    })
  })
})
