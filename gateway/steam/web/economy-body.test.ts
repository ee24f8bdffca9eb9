import { expect, it } from 'vitest'
import { economyBody } from './offers.ts'

it.each([
  [1, { trade_offers_sent: [], next_cursor: 0 }, true],
  [2, { trade_offers_sent: [{}], next_cursor: 0 }, true],
  [2, { trade_offers_sent: [], next_cursor: 0 }, false],
  [2, { next_cursor: 0 }, false],
  [3, { trade_offers_sent: [{}], next_cursor: 0 }, false],
])('an answer with Steam’s result %i and the content %j counts: %s', (eresult, response, counts) => {
  const body = { response }
  const answer = { kind: 'reply', status: 200, eresult, body } as const
  expect(economyBody(answer)).toBe(counts ? body : undefined)
})
