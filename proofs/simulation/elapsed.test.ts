import { expect, test } from 'vitest'
import { elapsedOf } from './elapsed.ts'
import { runPureSeed } from './levels.ts'
import { DEFECTS } from './planted-defects.ts'

const DAY_MS = 86_400_000

test('a seed simulates at least the days of protection, and no more than the longest hold and another one', async () => {
  const { simulatedMs } = await runPureSeed(1)
  expect(simulatedMs).toBeGreaterThan(7 * DAY_MS)
  expect(simulatedMs).toBeLessThan(40 * DAY_MS)
})

test('a seed that breaks a promise has simulated the time until then', async () => {
  const { simulatedMs, violation } = await runPureSeed(1, { core: DEFECTS['an unknown send is sent again'] })
  expect(violation).toBeDefined()
  expect(simulatedMs).toBeGreaterThan(0)
  expect(simulatedMs).toBeLessThan(DAY_MS)
})

test('acceleration is simulated time divided by the time on the wall', () => {
  expect(elapsedOf(365.25 * DAY_MS, 1_000)).toEqual({ simulatedYears: 1, acceleration: 31_557_600 })
})
