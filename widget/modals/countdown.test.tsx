import { expect, it } from 'vitest'
import { spokenAt } from './countdown.tsx'

it.each([
  ['at 5:00, 1:00, 0:30 and 0:10', [300, 60, 30, 10], [300, 60, 30, 10]],
  ['although the page skipped that second', [299, 58, 29, 8], [300, 60, 30, 10]],
  ['not once it is old', [295, 55, 25, 5, 0], [null, null, null, null, null]],
  ['not in between, or if it is unknown', [301, 150, 61, 31, 11, null], [null, null, null, null, null, null]],
])('A-092 the time is read out %s', (_, seconds, spoken) => {
  expect(seconds.map(spokenAt)).toEqual(spoken)
})
