import { expect, test } from 'vitest'
import { runPureSeed } from '../levels.ts'
import { elapsedOf, simulatedMsOf } from './elapsed.ts'

const DAY_MS = 86_400_000

test('a seed simulates at least the days of protection, and not a month', async () => {
  const simulatedMs = simulatedMsOf(await runPureSeed(1))
  expect(simulatedMs).toBeGreaterThan(7 * DAY_MS)
  expect(simulatedMs).toBeLessThan(30 * DAY_MS)
})

test('a trace without a line simulates nothing', () => {
  expect(simulatedMsOf({ trace: [] })).toBe(0)
})

test('acceleration is simulated time divided by the time on the wall', () => {
  expect(elapsedOf(365.25 * DAY_MS, 1_000)).toEqual({ simulatedYears: 1, acceleration: 31_557_600 })
})
