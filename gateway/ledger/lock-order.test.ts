/** Transactions lock balances in one order, so two of them never wait for each other. */
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { AccountKind } from '../db/schema.ts'
import { inTransaction } from '../db/transaction.ts'
import { DAY_MS } from '../kit/duration.ts'
import { steamTradeIdOf } from '../testing/fake-steam.ts'
import { payFor } from '../testing/payment.ts'
import { aBot, aDeposit, aStore, startTill, type Till } from '../testing/till.ts'
import { tradeHandlers } from '../trades/advance.ts'
import { recordPayout, voidPayout } from './payout.ts'
import { lockRoom } from './room-store.ts'

let till: Till

beforeEach(async () => {
  till = await startTill()
})
afterEach(() => till.close())

/** Resolves once a statement of another connection waits for a row. */
const untilWaiting = () =>
  expect
    .poll(async () => {
      const { rows } = await sql`
        select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(till.db)
      return rows.length
    })
    .toBe(1)

const idOf = async (kind: AccountKind, storeId: bigint | null): Promise<bigint> => {
  const accounts = till.db.selectFrom('account').select('id').where('kind', '=', kind)
  return (await accounts.where('store_id', 'is not distinct from', storeId).executeTakeFirstOrThrow()).id
}

const balanceOf = async (id: bigint) =>
  (await till.db.selectFrom('account').select('balance').where('id', '=', id).executeTakeFirstOrThrow())
    .balance

/**
 * Locks the balance `has`, or the used limit of this store, as another transaction would. Starts `work`, and resolves
 * to whether the other transaction could lock the balance `wants` while `work` waits for it. If not, both would wait
 * for each other.
 */
async function canContinue(
  { has, wants }: { has: bigint | { limitOf: bigint }; wants: bigint },
  work: () => Promise<unknown>,
): Promise<boolean> {
  let end: Promise<unknown> = Promise.resolve()
  const locked = await till.db.transaction().execute(async (tx) => {
    if (typeof has === 'object') await lockRoom(tx, has.limitOf)
    else await sql`select from account where id = ${has} for no key update`.execute(tx)
    end = work()
    await untilWaiting()
    return sql`select from account where id = ${wants} for no key update skip locked`.execute(tx)
  })
  await end
  return locked.rows.length === 1
}

/**
 * A store whose accounts have larger ids than the operator's, as those of every store but the first have. The operator
 * has paid the first store, so all accounts exist. The store has 30.00 from a deposit.
 */
async function laterStore() {
  const parts = await aBot(till)
  const first = await aStore(till)
  await payFor(till, parts, await aDeposit(till, first))
  await payOut(first.id)
  const store = await aStore(till, { riskLimitUsdCents: 100_000n })
  await till.db.updateTable('store').set({ liability: 'store' }).execute()
  const deposit = await aDeposit(till, store, { game: 'cs' })
  await payFor(till, parts, deposit)
  return { store, storeId: store.id, parts, deposit, available: await idOf('available', store.id) }
}

const payOut = (storeId: bigint) =>
  recordPayout(till.deps, { storeId, currency: 'USD', amount: 1_000n, reference: 'wire 1' })

it('a reversal that its store bears locks the operator’s balance before that of the store', async () => {
  const { parts, deposit, available } = await laterStore()
  const items = await idOf('items', null)
  expect(items).toBeLessThan(available)
  parts.session.takeBack(steamTradeIdOf('2'), deposit.body.items)
  // A delivery to the same store has locked the first balance, and wants the other one.
  const reverse = () => tradeHandlers(till.deps).history(parts.bot)
  expect(await canContinue({ has: items, wants: available }, reverse)).toBe(true)
  expect(await balanceOf(available)).toBe(0n)
})

it('the void of a payout locks the balance of its store first, as a payout does', async () => {
  const { storeId, available } = await laterStore()
  await payOut(storeId)
  const { id } = await till.db
    .selectFrom('payout')
    .select('id')
    .where('store_id', '=', storeId)
    .executeTakeFirstOrThrow()
  const paidOut = await idOf('paid_out', null)
  expect(paidOut).toBeLessThan(available)
  const undo = () => inTransaction(till.db, (tx) => voidPayout({ tx, clock: till.clock }, id))
  expect(await canContinue({ has: available, wants: paidOut }, undo)).toBe(true)
  expect(await balanceOf(available)).toBe(3_000n)
})

/**
 * The next deposit of the store is paid, one of its items goes back, and its protection ends. Resolves to a function
 * that reads the trade on Steam.
 */
async function partlyTakenBack({ store, parts }: Awaited<ReturnType<typeof laterStore>>) {
  const deposit = await aDeposit(till, store, { game: 'cs' })
  await payFor(till, parts, deposit)
  parts.session.takeBack(steamTradeIdOf('3'), deposit.body.items.slice(0, 1))
  till.clock.advance(9 * DAY_MS)
  const { id } = await till.db
    .selectFrom('trade')
    .select('id')
    .where('deposit_id', '=', deposit.id)
    .executeTakeFirstOrThrow()
  return () => tradeHandlers(till.deps).trade(parts.bot, id)
}

it('one read of Steam that causes a partial reversal and a release locks the balances of both at once', async () => {
  const later = await laterStore()
  const { storeId, available } = later
  await till.db.updateTable('store').set({ credit_mode: 'on_release' }).where('id', '=', storeId).execute()
  const read = await partlyTakenBack(later)
  const held = await idOf('held', storeId)
  expect(available).toBeLessThan(held)
  expect(await canContinue({ has: available, wants: held }, read)).toBe(true)
  expect(await balanceOf(held)).toBe(0n)
  expect(await balanceOf(available)).toBeGreaterThan(3_000n)
})

it('a read of Steam that frees part of the limit locks it before the balances of a partial reversal', async () => {
  const later = await laterStore()
  const { storeId, available } = later
  const { usd_cents: used } = await till.db
    .selectFrom('credit_at_risk')
    .select('usd_cents')
    .where('store_id', '=', storeId)
    .executeTakeFirstOrThrow()
  const limit = { risk_limit_usd_cents: used + 1_000n }
  await till.db.updateTable('store').set(limit).where('id', '=', storeId).execute()
  const read = await partlyTakenBack(later)
  expect(await balanceOf(await idOf('held', storeId))).toBeGreaterThan(0n)
  const items = await idOf('items', null)
  expect(await canContinue({ has: { limitOf: storeId }, wants: items }, read)).toBe(true)
  expect(await balanceOf(available)).toBeGreaterThan(3_000n)
})
