import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDeposit, type Shopper } from './calls.ts'
import { type Parts, startParts } from './parts.ts'
import { offers } from './sandbox.ts'

let parts: Parts
let shopper: Shopper

beforeAll(async () => {
  parts = await startParts()
  shopper = await openDeposit(parts)
})

afterAll(async () => {
  await parts?.end()
})

test('20 parallel calls for the same trade make one offer, and each of them learns of it', async () => {
  const items = (await shopper.inventory()).items
    .sort((a, b) => b.price - a.price)
    .slice(0, 2)
    .map((item) => item.id)
  const before = (await offers(parts.place.sandbox)).length
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => shopper.post('/api/trade', { game: 'cs', items })),
  )
  expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200))
  expect((await offers(parts.place.sandbox)).length).toBe(before + 1)

  const other = await shopper.post('/api/trade', { game: 'cs', items: items.slice(0, 1) })
  expect(other.status).toBe(409)
})
