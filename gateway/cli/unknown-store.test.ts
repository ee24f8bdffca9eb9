import { afterAll, beforeAll, expect, it } from 'vitest'
import { runCommand } from '../testing/command.ts'
import { aStore, startTill, type Till } from '../testing/till.ts'

let till: Till
let storeId: string

beforeAll(async () => {
  till = await startTill()
  storeId = String((await aStore(till)).id)
})
afterAll(() => till.close())

const runFor = (words: string, store: string) =>
  runCommand([...words.split(' '), '--store', store], { databaseUrl: till.url })

it.each([
  'deposit list',
  'deposit list --csv',
  'payout list',
  'webhook list',
  'key list',
  'price why --game cs --item Knife',
])('%s refuses a store that does not exist, and accepts a store without rows', async (words) => {
  expect(await runFor(words, '999')).toEqual({ code: 3, out: '', errors: 'There is no store 999.\n' })
  expect((await runFor(words, storeId)).errors).not.toContain('There is no store')
})
