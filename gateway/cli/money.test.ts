import { afterAll, beforeAll, expect, it } from 'vitest'
import { readMoney } from '../operations/money-store.ts'
import { type TestDatabase, testDatabase } from '../testing/database.ts'
import { moneyLines } from './figure-lines.ts'

let database: TestDatabase

beforeAll(async () => {
  database = await testDatabase()
})
afterAll(() => database.close())

const addStores = (count: number) =>
  database.db
    .insertInto('store')
    .values(Array.from({ length: count }, (_, n) => ({ name: `Store ${n}`, origins: ['https://many.test'] })))
    .returning('id')
    .execute()

it('a list of money has a notice only if it leaves something out, and the notice says how much is listed', async () => {
  const notice = async () => moneyLines(await readMoney(database.db)).filter((line) => line.includes('Only'))
  // As many as a list of money has room for.
  const [first] = await addStores(500)
  const account = { store_id: first?.id ?? 0n, kind: 'available', floor: 0n, balance: 1n } as const
  await database.db
    .insertInto('account')
    .values({ ...account, currency: 'USD' })
    .execute()
  expect(await readMoney(database.db)).toMatchObject({ isCut: false, atRisk: { length: 500 } })
  expect(await notice()).toEqual([])

  await addStores(1)
  expect(await readMoney(database.db)).toMatchObject({ isCut: true, atRisk: { length: 500 } })
  expect(await notice()).toEqual(['Only 1 balance and 500 limits are listed. All stores: store list'])
})
