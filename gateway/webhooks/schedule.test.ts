import { expect, it } from 'vitest'
import { nextWaitMs, readRetryAfter } from './schedule.ts'

/** The random value that leaves a wait unchanged. */
const MIDDLE = 0.5
const HOUR_MS = 3_600_000

it('a failed webhook is retried ten times over 75 hours, with growing waits', () => {
  const waits: number[] = []
  for (let attempts = 1; ; attempts += 1) {
    const waitMs = nextWaitMs({ attempts }, MIDDLE)
    if (waitMs === undefined) break
    waits.push(waitMs)
  }
  expect(waits).toHaveLength(10)
  expect(waits).toEqual([...waits].sort((a, b) => a - b))
  expect(waits[0]).toBe(5_000)
  expect(Math.floor(waits.reduce((sum, wait) => sum + wait, 0) / HOUR_MS)).toBe(75)
})

it('retries after an outage are spread over a fifth of the wait', () => {
  expect(nextWaitMs({ attempts: 2 }, 0)).toBe(27_000)
  expect(nextWaitMs({ attempts: 2 }, MIDDLE)).toBe(30_000)
  expect(nextWaitMs({ attempts: 2 }, 0.999_999)).toBe(33_000)
})

it('a store’s Retry-After can lengthen a wait to at most a day, but neither shorten it nor add an attempt', () => {
  expect(nextWaitMs({ attempts: 1, retryAfterMs: 60_000 }, MIDDLE)).toBe(60_000)
  expect(nextWaitMs({ attempts: 1, retryAfterMs: 1_000 }, MIDDLE)).toBe(5_000)
  expect(nextWaitMs({ attempts: 1, retryAfterMs: 999 * HOUR_MS }, MIDDLE)).toBe(24 * HOUR_MS)
  expect(nextWaitMs({ attempts: 11, retryAfterMs: 60_000 }, MIDDLE)).toBeUndefined()
})

it('Retry-After is seconds or a date', () => {
  const now = new Date('2026-01-01T12:00:00Z')
  expect(readRetryAfter('120', now)).toBe(120_000)
  expect(readRetryAfter('Thu, 01 Jan 2026 12:01:00 GMT', now)).toBe(60_000)
  expect(readRetryAfter('Thu, 01 Jan 2026 11:00:00 GMT', now)).toBe(0)
  expect([undefined, 'soon', '-1'].map((header) => readRetryAfter(header, now))).toEqual([
    undefined,
    undefined,
    undefined,
  ])
})
