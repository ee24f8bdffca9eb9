import { expect, it } from 'vitest'
import { ageText } from './finding.ts'

it.each([
  [0, '0 seconds'],
  [1_000, '1 second'],
  [2_000, '2 seconds'],
  [119_000, '119 seconds'],
  [120_000, '2 minutes'],
  [7_200_000, '2 hours'],
  [172_800_000, '2 days'],
])('an age of %i ms is %s', (ms, text) => {
  expect(ageText(ms)).toBe(text)
})
