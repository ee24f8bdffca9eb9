import { expect, inject, test } from 'vitest'
import { failoverRounds } from './rounds.ts'

test('a database that falls silent under load loses nothing, and the till continues', {
  timeout: 1_200_000,
}, async () => {
  const plan = { seed: 1, kinds: ['silent'] } as const
  const server = { url: inject('databaseUrl') }
  const { problems, refused, counts, times } = await failoverRounds(server, plan)
  expect(problems).toEqual([])
  // The round repeats its call until one is refused.
  expect(refused).toBe(1)
  expect(counts.deliveries).toBeGreaterThan(0)
  expect(times.map(({ kind }) => kind)).toEqual(['silent'])
})
