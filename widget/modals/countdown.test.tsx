import { expect, it } from 'vitest'
import { spokenAt } from './countdown.tsx'

it.each([
  ['read out at 5:00, 1:00, 0:30 and 0:10', [300, 60, 30, 10], [300, 60, 30, 10]],
  ['read out up to two seconds late, if the page skipped seconds', [299, 58, 29, 8], [300, 60, 30, 10]],
  ['removed after five seconds', [295, 55, 25, 5, 0], [null, null, null, null, null]],
  [
    'not read out at other times, or while it is unknown',
    [301, 150, 61, 31, 11, null],
    [null, null, null, null, null, null],
  ],
])('A-092 the time is %s', (_, seconds, spoken) => {
  expect(seconds.map(spokenAt)).toEqual(spoken)
})
