/** The amounts above which an act needs a second operator. */
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { inTransaction } from '../db/transaction.ts'
import { operatorOf } from '../testing/operator.ts'
import { aStore, startTill, type Till } from '../testing/till.ts'
import { recordPayout } from './payouts.ts'
import { changeApprovalLimit } from './proposals.ts'

/** 100.00 USD. */
const LIMIT = 10_000n

let till: Till

beforeEach(async () => {
  till = await startTill()
  await changeApprovalLimit(operatorOf(till), { aboveUsdMinor: LIMIT })
})
afterEach(() => till.close())

async function aRichStore(currency: 'USD' | 'EUR'): Promise<bigint> {
  const { id } = await aStore(till)
  const account = { store_id: id, kind: 'available', currency, balance: 1_000_000n, floor: 0n } as const
  await till.db.insertInto('account').values(account).execute()
  return id
}

const addRate = (perUsd: string, source = 'test') =>
  till.db
    .insertInto('exchange_rate')
    .values({ currency: 'EUR', per_usd: perUsd, source, as_of: till.clock.now() })
    .execute()

it('an amount in another currency is converted with the newest rate', async () => {
  const storeId = await aRichStore('EUR')
  const pay = (amount: bigint, reference: string) =>
    recordPayout(operatorOf(till), { storeId, currency: 'EUR', amount, reference })
  await addRate('2')
  await addRate('0.5')
  // 50.01 EUR are 100.02 USD by the newest rate, and 25.01 USD by the older one.
  expect(await pay(5_001n, 'one')).toMatchObject({ refusal: 'proposed' })
  expect(await pay(5_000n, 'two')).toMatchObject({ kind: 'done' })
})

it('an amount is not converted with the rate of a source that was removed', async () => {
  const storeId = await aRichStore('EUR')
  await addRate('0.5')
  // By this rate, 50.01 EUR are 25.01 USD.
  await addRate('2', 'removed')
  await till.db
    .insertInto('price_feed')
    .values({ source: 'removed', feed: 'rates', next_at: till.clock.now(), removed_at: till.clock.now() })
    .execute()
  const payout = { storeId, currency: 'EUR', amount: 5_001n, reference: 'one' } as const
  expect(await recordPayout(operatorOf(till), payout)).toMatchObject({ refusal: 'proposed' })
})

it('an amount in a currency without a rate needs a second operator, however small it is', async () => {
  const storeId = await aRichStore('EUR')
  const payout = { storeId, currency: 'EUR', amount: 1n, reference: 'one' } as const
  expect(await recordPayout(operatorOf(till), payout)).toMatchObject({ refusal: 'proposed' })
})

it('simultaneous acts count together, even if they move money between different accounts', async () => {
  const [dollars, euros] = [await aRichStore('USD'), await aRichStore('EUR')]
  await addRate('1')
  const payout = { amount: 6_000n, reference: 'one' }
  const { other } = await inTransaction(till.db, async (tx) => {
    const first = { ...payout, storeId: dollars, currency: 'USD' } as const
    // Done, but not committed yet.
    expect(await recordPayout({ ...operatorOf(till), db: tx }, first)).toMatchObject({ kind: 'done' })
    let hasEnded = false
    const second = { ...payout, storeId: euros, currency: 'EUR' } as const
    const waiting = recordPayout(operatorOf(till), second).finally(() => {
      hasEnded = true
    })
    const isBlocked = async () => {
      const { rows } = await sql`select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and state = 'active'`.execute(till.db)
      return hasEnded || rows.length === 1
    }
    await expect.poll(isBlocked).toBe(true)
    return { other: waiting }
  })
  expect(await other).toMatchObject({ refusal: 'proposed' })
})
