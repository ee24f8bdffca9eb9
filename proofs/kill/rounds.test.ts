import { expect, inject, test } from 'vitest'
import { killRounds } from './rounds.ts'

/** With this seed, one gateway is killed right after a delivery, one at a random moment, and one while it starts. */
const PLAN = { rounds: 3, seed: 1448 }

test('3 rounds of kill -9 under load lose nothing and double nothing', { timeout: 1_200_000 }, async () => {
  const { problems, counts, apiMs } = await killRounds(inject('databaseUrl'), PLAN)
  expect(problems).toEqual([])
  expect(counts.deliveries).toBeGreaterThan(0)
  expect(counts.reversals).toBeGreaterThan(0)
  // The times from start to first answer: of the two gateways that answered before they were killed, and of the last.
  expect(apiMs).toHaveLength(3)
})
