import { expect, inject, test } from 'vitest'
import { killRounds } from './rounds.ts'

/** With this seed one is killed just after a delivery, one at any moment, and one while it starts. */
const PLAN = { rounds: 3, seed: 1448 }

test('3 rounds of kill -9 under load lose nothing and double nothing', { timeout: 1_200_000 }, async () => {
  const { problems, books, apiMs } = await killRounds(inject('databaseUrl'), PLAN)
  expect(problems).toEqual([])
  expect(books.deliveries).toBeGreaterThan(0)
  expect(books.reversals).toBeGreaterThan(0)
  // Of the two that were not killed too early, and of the last start.
  expect(apiMs).toHaveLength(3)
})
