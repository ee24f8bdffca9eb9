/** Bugs of real payment and trade systems that no other test covers. docs/bugs-of-others.md has the whole list. */
import { type RawBuilder, sql } from 'kysely'
import type pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { BotContext } from '../../gateway/bots/bot.ts'
import { sqlState } from '../../gateway/db/sql-state.ts'
import { createDeposit } from '../../gateway/deposits/create.ts'
import { verifyLedger } from '../../gateway/ledger/verify.ts'
import type { FakeSession } from '../../gateway/testing/fake-steam.ts'
import { offerFor } from '../../gateway/testing/payment.ts'
import { testPool } from '../../gateway/testing/pool.ts'
import { aBot, aDeposit, aStore, startTill, type Till } from '../../gateway/testing/till.ts'
import { tradeHandlers } from '../../gateway/trades/advance.ts'
import { requestTrade } from '../../gateway/trades/request.ts'

let till: Till
let pool: pg.Pool
let store: { id: bigint }
let bot: BotContext
let session: FakeSession

beforeAll(async () => {
  till = await startTill()
  pool = testPool(till.url)
})
beforeEach(async () => {
  await resetTill()
  store = await aStore(till, { riskLimitUsdCents: 100_000n })
  ;({ bot, session } = await aBot(till))
})
afterAll(async () => {
  await pool.end()
  await till.close()
})

/** Empties every table but `migration`, and undoes `interruptWrites`. */
async function resetTill(): Promise<void> {
  const { rows } = await pool.query<{ name: string }>(`
    select quote_ident(relname) as name from pg_class where relnamespace = 'public'::regnamespace
      and relkind = 'r' and relname <> 'migration' and pg_relation_size(oid) > 0`)
  const tables = rows.map(({ name }) => name).join(', ')
  // Switches off the trigger that protects the ledger from this.
  await pool.query(`
    set session_replication_role = replica;
    ${tables === '' ? '' : `truncate ${tables} restart identity cascade;`}
    drop function if exists break_off cascade;
    drop sequence if exists broken_off;
    set session_replication_role = origin`)
}

/** The till learns of a trade's state in the trade's job, when a page asks, or from the poller of offers. */
type Step = 'trade' | 'refresh' | 'watch'

const trades = () => till.db.selectFrom('trade').selectAll().orderBy('id').execute()

const STEPS: Record<Step, () => Promise<unknown>> = {
  trade: async () => {
    for (const { id } of await trades()) await tradeHandlers(till.deps).trade(bot, id)
  },
  refresh: async () => {
    for (const { id } of await trades()) await tradeHandlers(till.deps).refresh(bot, id)
  },
  watch: () => tradeHandlers(till.deps).watch(bot),
}

/** The sum of the credits, how often a deposit succeeded, and what the check of the ledger finds. */
async function readBooks() {
  const credited = await till.db
    .selectFrom('ledger_entry')
    .select((eb) => eb.fn.sum<bigint>('amount').as('sum'))
    .where('cause', '=', 'delivered')
    .executeTakeFirstOrThrow()
  const events = await till.db
    .selectFrom('event')
    .select('type')
    .where('type', '=', 'deposit.succeeded')
    .execute()
  return { credited: Number(credited.sum), events: events.length, differences: await verifyLedger(pool) }
}

/** Error codes of PostgreSQL. */
const SESSION_ENDED = '57P01'
const DISK_FULL = '53100'
const SERIALIZATION_FAILURE = '40001'
const DEADLOCK = '40P01'
const LOCK_NOT_AVAILABLE = '55P03'

const CREDITED_ONCE = { credited: 3_000, events: 1, differences: [] }

/**
 * Makes the first `times` writes to a table fail with an error of PostgreSQL. A sequence counts the writes, because a
 * rollback does not reset it. `SESSION_ENDED`: also ends the session, as a restart of PostgreSQL does.
 */
async function interruptWrites(table: string, code: string, times: number): Promise<void> {
  await sql`
    create sequence broken_off;
    create function break_off() returns trigger language plpgsql as $break$
    begin
      if nextval('broken_off') <= ${sql.lit(times)} then
        if ${sql.lit(code)} = ${sql.lit(SESSION_ENDED)} then perform pg_terminate_backend(pg_backend_pid()); end if;
        raise exception 'interrupted by the test' using errcode = ${sql.lit(code)};
      end if;
      return new;
    end $break$;
    create trigger break_off before insert or update on ${sql.table(table)}
      for each row execute function break_off();`.execute(till.db)
}

describe('an acceptance', () => {
  const orders: Step[][] = [
    ['trade', 'refresh', 'watch'],
    ['trade', 'watch', 'refresh'],
    ['refresh', 'trade', 'watch'],
    ['refresh', 'watch', 'trade'],
    ['watch', 'trade', 'refresh'],
    ['watch', 'refresh', 'trade'],
  ]
  it.each(orders)(
    'bug 2: an acceptance is credited once by job, page and poller, at the same time and then in the order %s, %s, %s',
    async (...order) => {
      await offerFor(till, bot, await aDeposit(till, store))
      session.accept('1')
      await Promise.all(order.map((step) => STEPS[step]()))
      for (const step of order) await STEPS[step]()
      expect(await readBooks()).toEqual(CREDITED_ONCE)
    },
  )

  it('bug 6: an acceptance is credited once, even if it is seen before the send is answered', async () => {
    // While this offer is open, the bot reads the list of its offers, where it sees the second one at once.
    await offerFor(till, bot, await aDeposit(till, store))
    session.afterSend = async () => {
      await STEPS.watch()
      session.accept('2')
      await STEPS.watch()
    }
    await offerFor(till, bot, await aDeposit(till, store))
    await STEPS.watch()
    expect(await readBooks()).toEqual(CREDITED_ONCE)
    expect(session.calls.filter((call) => call.startsWith('send'))).toHaveLength(2)
    expect(session.calls.filter((call) => call.startsWith('cancel'))).toEqual([])
  })
})

describe('a transaction that PostgreSQL interrupts', () => {
  const tables = ['trade_item', 'custody_entry', 'ledger_entry', 'account', 'event']
  it.each(tables.flatMap((table) => [SERIALIZATION_FAILURE, DEADLOCK].map((code) => [table, code] as const)))(
    'bug 15: a transaction that fails at a write to %s with error %s is repeated, and nothing is written twice',
    async (table, code) => {
      await offerFor(till, bot, await aDeposit(till, store))
      session.accept('1')
      await interruptWrites(table, code, 2)
      await STEPS.watch()
      expect(await readBooks()).toEqual(CREDITED_ONCE)
    },
  )
})

describe('a full disk', () => {
  it('bug 35: a full disk makes the creation of a deposit fail without a trace, and the next call creates it', async () => {
    await interruptWrites('deposit', DISK_FULL, 1)
    const body = { externalId: 'order 1', currency: 'USD', backToStoreUrl: 'https://store.test/' } as const
    await expect(createDeposit(till.deps, store, body)).rejects.toThrow('interrupted by the test')
    expect(await till.db.selectFrom('deposit').select('id').execute()).toEqual([])
    expect((await createDeposit(till.deps, store, body)).created).toBe(true)
  })
})

describe('a credit that is interrupted', () => {
  it.each([
    ['trade_item', SESSION_ENDED],
    ['custody_entry', SESSION_ENDED],
    ['event', DISK_FULL],
    ['event', SESSION_ENDED],
    ['ledger_entry', DISK_FULL],
    ['account', SESSION_ENDED],
  ])(
    'bug 35: a credit that fails at a write to %s with error %s books nothing, and the next attempt books all of it',
    async (table, code) => {
      await offerFor(till, bot, await aDeposit(till, store))
      session.accept('1')
      await interruptWrites(table, code, 1)
      await STEPS.watch()
      expect(till.lines.at(-1)).toContain('watch over the offer of a trade failed')
      expect(await readBooks()).toEqual({ credited: 0, events: 0, differences: [] })
      expect(await till.db.selectFrom('custody_entry').select('asset_id').execute()).toEqual([])
      await STEPS.trade()
      expect(await readBooks()).toEqual(CREDITED_ONCE)
    },
  )
})

it('bug 32: of two deposits that want the same items at the same moment, exactly one gets the items', async () => {
  const deposits = [await aDeposit(till, store), await aDeposit(till, store)]
  // Gives both quotes the same items.
  await sql`update quote_item set asset_id = '77' || right(asset_id, 1)`.execute(till.db)
  const items = ['770', '771']
  const answers = deposits.map(({ body }) => requestTrade(till.deps, { ...body, items }))
  await expect.poll(trades).toHaveLength(1)
  const work = async () => {
    await STEPS.trade()
    return session.offers.size
  }
  await expect.poll(work).toBe(1)
  const kinds = (await Promise.all(answers)).map((answer) =>
    answer.kind === 'refused' ? answer.code : answer.kind,
  )
  expect(kinds.sort()).toEqual(['active', 'items_unavailable'])
  expect(await trades()).toHaveLength(1)
})

const NEWEST = sql`(select max(id) from trade)`
const EVENT = sql`insert into event (id, store_id, deposit_id, type, payload)
  select gen_random_uuid(), store_id, id, 'deposit.succeeded', '{}' from deposit where id = (select max(id) from deposit)`
const CUSTODY = sql`insert into custody_entry (trade_id, asset_id, bot_id, moved)
  select id, asset_id, bot_id, 'in' from trade join trade_item on trade_id = id where id = ${NEWEST}`
const ENTRY = sql`
  insert into ledger_entry (debit_account, credit_account, amount, currency, cause, trade_id, quote_id, rate_id)
  select debit_account, credit_account, 1, 'USD', cause, ${NEWEST}, quote_id, rate_id from ledger_entry`

/** Whether another transaction has written this row and not yet committed. If so, inserting the row again must wait. */
async function isWritten(insert: RawBuilder<unknown>): Promise<boolean> {
  const trying = till.db.transaction().execute(async (tx) => {
    await sql`set local lock_timeout = '100ms'`.execute(tx)
    // Without this, the insert would wait for the rows that it refers to.
    await sql`set local session_replication_role = replica`.execute(tx)
    await insert.execute(tx)
    throw new Error('the row is not written')
  })
  return trying.catch((error: unknown) => sqlState(error) === LOCK_NOT_AVAILABLE)
}

it('bug 16: a credit that waits for a busy balance has already written its event, custody and ledger entries', async () => {
  await offerFor(till, bot, await aDeposit(till, store))
  session.accept('1')
  await STEPS.watch()
  await offerFor(till, bot, await aDeposit(till, store))
  session.accept('2')
  await pool.query('begin')
  await pool.query('select 1 from account where store_id = $1 for no key update', [String(store.id)])
  const holderPid = (await pool.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid ?? 0
  const credit = STEPS.watch()
  // Waits until the balance's lock blocks the credit, because other locks may block it first.
  await expect
    .poll(async () => {
      const { rows } = await sql`
        select from pg_stat_activity where datname = current_database() and ${holderPid} = any (pg_blocking_pids(pid))`.execute(
        till.db,
      )
      return rows.length
    })
    .toBe(1)
  expect(await isWritten(EVENT)).toBe(true)
  expect(await isWritten(CUSTODY)).toBe(true)
  expect(await isWritten(ENTRY)).toBe(true)
  await pool.query('commit')
  await credit
  expect(await verifyLedger(pool)).toEqual([])
})
