import { expect, test } from 'vitest'
import { elapsedOf } from './elapsed.ts'
import { runPureSeed } from './levels.ts'
import { DEFECTS } from './planted-defects.ts'

const DAY_MS = 86_400_000

/** Simulated days. The simulated clock jumps between events, so they are the same on every machine. */
const daysOf = ({ simulatedMs }: { simulatedMs: number }): number => simulatedMs / DAY_MS

test('a seed simulates more than the 7 days of Steam’s protection, and less than 40 days', async () => {
  const simulatedDays = daysOf(await runPureSeed(1))
  expect(simulatedDays).toBeGreaterThan(7)
  expect(simulatedDays).toBeLessThan(40)
})

test('a seed that breaks a promise reports the time until the break', async () => {
  const outcome = await runPureSeed(1, { core: DEFECTS['an unknown send is sent again'] })
  expect(outcome.violation).toBeDefined()
  const simulatedDays = daysOf(outcome)
  expect(simulatedDays).toBeGreaterThan(0)
  expect(simulatedDays).toBeLessThan(1)
})

test('acceleration is simulated time divided by real time', () => {
  expect(elapsedOf(365.25 * DAY_MS, 1_000)).toEqual({ simulatedYears: 1, acceleration: 31_557_600 })
})
