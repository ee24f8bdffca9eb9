/**
 * The database refuses a posting that leaves a store in debt, unless the posting is allowed to. So a mistake in earlier
 * checks costs nothing.
 */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { payFor } from '../testing/payment.ts'
import { aBot, aDeposit, aStore, startTill, type Till } from '../testing/till.ts'
import { payoutMovements } from './entry.ts'
import { insertPayout } from './operator-store.ts'
import { balancesOf, post } from './store.ts'

let till: Till
let store: { id: bigint }

beforeEach(async () => {
  till = await startTill()
  store = await aStore(till)
  await payFor(till, await aBot(till), await aDeposit(till, store, { game: 'dota', prices: [2_500n] }))
})
afterEach(() => till.close())

/** Books a payout without asking whether the store has that much. */
async function payOut(amount: bigint, mayOwe: boolean): Promise<void> {
  const payout = { storeId: store.id, currency: 'USD', amount, reference: `wire ${amount}` } as const
  await till.db.transaction().execute(async (tx) => {
    const at = till.clock.now()
    const payoutId = await insertPayout(tx, payout, at)
    if (payoutId === undefined) throw new Error('the reference is taken')
    const movements = payoutMovements(amount)
    await post(tx, { storeId: store.id, currency: 'USD', payoutId, movements, mayOwe, at })
  })
}

const balances = () => balancesOf(till.db, store.id)

it('a posting that takes a store’s entire balance is booked, and another posting of one cent is refused', async () => {
  await payOut(2_500n, false)
  await expect(payOut(1n, false)).rejects.toThrow('account_floor')
  expect(await balances()).toEqual([{ currency: 'USD', held: 0n, available: 0n }])
})

it('a posting that is allowed to leave a store in debt is booked even if it exceeds the balance', async () => {
  await payOut(2_501n, true)
  expect(await balances()).toEqual([{ currency: 'USD', held: 0n, available: -1n }])
})
