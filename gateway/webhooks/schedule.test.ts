import { expect, it } from 'vitest'
import { nextWaitMs } from './schedule.ts'

const MOST = 0.999_999

it('a webhook that is not taken is sent again later and later, ten times over about three days', () => {
  const waits: number[] = []
  for (let attempts = 1; ; attempts += 1) {
    const wait = nextWaitMs(attempts, MOST)
    if (wait === undefined) break
    waits.push(wait)
  }
  expect(waits).toHaveLength(9)
  expect(waits).toEqual([...waits].sort((a, b) => a - b))
  expect(waits[0]).toBe(5_000)
  const days = waits.reduce((sum, wait) => sum + wait, 0) / 86_400_000
  expect(days).toBeGreaterThan(2.5)
  expect(days).toBeLessThan(3)
})

it('retries of one outage are spread over half of the wait', () => {
  expect(nextWaitMs(2, 0)).toBe(15_000)
  expect(nextWaitMs(2, 0.5)).toBe(22_500)
  expect(nextWaitMs(2, MOST)).toBe(30_000)
})
