import { expect, test } from 'vitest'
import { durationText, readDuration } from './duration.ts'

test.each([
  ['90s', 90],
  ['15m', 900],
  ['2h', 7_200],
  ['8d', 691_200],
])('%s is %i seconds', (text, seconds) => {
  expect(readDuration(text)).toBe(seconds)
})

test.each(['', '8', 'd', '0d', '-1d', '1.5d', '8 d', '8days', '8w', ' 8d', '8d8h', '9999999999s'])(
  '%j is not a duration',
  (text) => {
    expect(readDuration(text)).toBeUndefined()
  },
)

test.each([
  [691_200, '8 days'],
  [90_061, '1 day 1 hour 1 minute 1 second'],
  [0, '0 seconds'],
])('%i seconds are written as %s', (seconds, text) => {
  expect(durationText(seconds)).toBe(text)
})
