import { expect, inject, test } from 'vitest'
import { cutSockets } from './socket.ts'

test('bug 14: cuts inside the crediting transaction leave exactly one credit each', async () => {
  const plan = { serverUrl: inject('databaseUrl'), everyMessage: false, offsets: 25, seed: 2 }
  const { cuts, problems } = await cutSockets(plan)
  expect(problems).toEqual([])
  // Not 25: a transaction can be a few bytes shorter than the measured one. It then ends before a late cut, so nothing
  // is cut.
  expect(cuts).toBeGreaterThan(22)
})
