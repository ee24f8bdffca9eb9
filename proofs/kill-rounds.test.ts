import { expect, inject, test } from 'vitest'
import { killRounds } from './kill-rounds.ts'

test('10 rounds of kill -9 under load lose nothing and double nothing', async () => {
  const { problems, books, apiMs } = await killRounds(inject('databaseUrl'), { rounds: 10, seed: 4 })
  expect(problems).toEqual([])
  expect(books.deliveries).toBeGreaterThan(0)
  expect(apiMs.length).toBeGreaterThan(1)
})
