import { afterEach, expect, it, vi } from 'vitest'
import { startOfDay } from './period.ts'

afterEach(() => {
  vi.unstubAllEnvs()
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
