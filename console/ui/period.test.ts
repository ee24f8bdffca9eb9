import { afterEach, expect, it, vi } from 'vitest'
import { followClock } from './format.ts'
import { periodOf, startOfDay } from './period.ts'

afterEach(() => {
  vi.unstubAllEnvs()
  vi.useRealTimers()
  followClock(new Date().toISOString())
})

it('a period goes through today in UTC by default, also if midnight has passed since the console was opened', () => {
  vi.useFakeTimers()
  followClock('2026-01-31T20:00:00.000Z')
  expect(periodOf(new URLSearchParams())).toEqual({
    from: '2026-01-01T00:00:00Z',
    to: '2026-02-01T00:00:00Z',
  })
  vi.advanceTimersByTime(6 * 3_600_000)
  expect(periodOf(new URLSearchParams())).toEqual({
    from: '2026-02-01T00:00:00Z',
    to: '2026-02-02T00:00:00Z',
  })
})

it.each([
  ['Asia/Tokyo', '2026-11-27T15:00:00.000Z'],
  ['America/New_York', '2026-11-28T05:00:00.000Z'],
  ['UTC', '2026-11-28T00:00:00.000Z'],
])('a day of a filter begins at midnight in the local time zone, here %s', (zone, start) => {
  vi.stubEnv('TZ', zone)
  expect(startOfDay('2026-11-28')).toBe(start)
})

it('a text that is not a day is passed on, for the server to refuse', () => {
  expect(startOfDay('soon')).toBe('soon')
})
