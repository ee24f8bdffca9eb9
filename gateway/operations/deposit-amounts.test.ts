/**
 * The list of deposits by amount of credit, page by page. The query follows an index of amounts, or sorts the deposits
 * if they are few.
 */
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { operatorOf } from '../testing/operator.ts'
import { aDeposit, aStore, startTill, type Till } from '../testing/till.ts'
import { exportDeposits, listDeposits } from './deposit-list.ts'
import { type DepositFilter, isSortCheaper } from './deposit-list-store.ts'

let till: Till
let stores: bigint[]
/** All credits in USD, largest first. */
let credits: { id: bigint; store: bigint; amount: bigint; at: Date }[]

beforeAll(async () => {
  till = await startTill()
  stores = [(await aStore(till)).id, (await aStore(till)).id]
  // Some amounts are equal, some are in another currency, and some deposits are not paid.
  for (let n = 0; n < 40; n += 1) {
    const { id } = await aDeposit(till, { id: stores[n % 2] ?? 0n })
    if (n % 5 === 4) continue
    const [amount, currency] = [BigInt(((n * 7) % 13) * 100 + 50), n % 8 === 7 ? 'EUR' : 'USD']
    await sql`update deposit set status = 'succeeded', credited_amount = ${amount}, currency = ${currency},
      created_at = created_at - ${n} * interval '1 hour' where id = ${id}`.execute(till.db)
  }
  const { rows } = await sql<(typeof credits)[number]>`
    select id, store_id as store, credited_amount as amount, created_at as at from deposit
    where credited_amount is not null and currency = 'USD' order by credited_amount desc, id desc`.execute(
    till.db,
  )
  credits = rows
})
afterAll(() => till.close())

const USD = { currency: 'USD', order: 'largest' } as const

/** Returns the ids of all pages. */
async function listAll(filter: Partial<DepositFilter>): Promise<bigint[]> {
  const ids: bigint[] = []
  for (let before: bigint | undefined; ; ) {
    const answer = await listDeposits(operatorOf(till), { limit: 7, ...filter, before })
    if (answer.kind !== 'done') throw new Error(answer.message)
    ids.push(...answer.data.deposits.map(({ depositId }) => depositId))
    before = answer.data.next ?? undefined
    if (before === undefined) return ids
  }
}

const idsOf = (rows: typeof credits) => rows.map(({ id }) => id)

describe('a list of deposits by amount', () => {
  it('has each deposit in one currency once, with the largest or the smallest first', async () => {
    expect(credits.length).toBeGreaterThan(20)
    expect(await listAll(USD)).toEqual(idsOf(credits))
    expect(await listAll({ ...USD, order: 'smallest' })).toEqual(idsOf(credits).toReversed())
  })

  it('can be limited to a store, a period and a range of amounts', async () => {
    const [store = 0n] = stores
    const from = credits[3]?.at ?? new Date()
    // Without a period, the query follows the store's index of amounts. With one, it sorts the few deposits.
    expect(await isSortCheaper(till.db, { ...USD, storeId: store, limit: 7 })).toBe(false)
    expect(await isSortCheaper(till.db, { ...USD, storeId: store, from, limit: 7 })).toBe(true)
    expect(await listAll({ ...USD, storeId: store, from })).toEqual(
      idsOf(credits.filter((row) => row.store === store && row.at >= from)),
    )
    expect(await listAll({ ...USD, storeId: store })).toEqual(
      idsOf(credits.filter((row) => row.store === store)),
    )
    expect(await listAll({ ...USD, from })).toEqual(idsOf(credits.filter((row) => row.at >= from)))
    const range = { leastMinor: 250n, mostMinor: 850n }
    const inRange = credits.filter(({ amount }) => amount >= 250n && amount <= 850n)
    expect(await listAll({ ...USD, ...range })).toEqual(idsOf(inRange))
    expect(await listAll({ ...USD, ...range, storeId: store, order: 'smallest' })).toEqual(
      idsOf(inRange.filter((row) => row.store === store)).toReversed(),
    )
  })

  it('can be exported completely', async () => {
    const answer = await exportDeposits(operatorOf(till), { ...USD, limit: 7 })
    const rows = answer.kind === 'refused' ? [] : answer.data.deposits
    expect(rows.map(({ depositId }) => depositId)).toEqual(idsOf(credits))
  })

  it('is refused if its page must begin after an unlisted deposit, such as one that a restored till lost', async () => {
    const withoutCredit = await aDeposit(till, { id: stores[0] ?? 0n })
    for (const before of [withoutCredit.id, 999n]) {
      for (const list of [listDeposits, exportDeposits]) {
        expect(await list(operatorOf(till), { ...USD, limit: 7, before })).toEqual({
          kind: 'refused',
          refusal: 'not_found',
          message: `Deposit ${before} is not in this list: begin the list again.`,
        })
      }
    }
    const last = idsOf(credits).at(-1)
    expect(await listDeposits(operatorOf(till), { ...USD, limit: 7, before: last })).toMatchObject({
      kind: 'done',
      data: { deposits: [], next: null },
    })
  })

  it('needs a currency', async () => {
    const filter = { order: 'smallest', limit: 7 } as const
    expect(await listDeposits(operatorOf(till), filter)).toMatchObject({ refusal: 'usage' })
  })
})
