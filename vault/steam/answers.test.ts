import { expect, it } from 'vitest'
import { readOffers } from './answers.ts'

it.each([
  [1, [], 'an empty list'],
  [2, [{ tradeofferid: '1' }], 'a list with one row'],
  [2, [], 'no answer'],
  [3, [{ tradeofferid: '1' }], 'no answer'],
])('a list of offers with Steam’s result %i and the rows %j counts as %s', (eresult, rows, counts) => {
  const text = JSON.stringify({ response: { trade_offers_sent: rows, next_cursor: 0 } })
  const page = readOffers({ kind: 'reply', status: 200, eresult, text })
  const read =
    page === undefined ? 'no answer' : page.unclear.length === 1 ? 'a list with one row' : 'an empty list'
  expect(read).toBe(counts)
})
