import { expect, test } from 'vitest'
import { whyRefused } from './test-arguments.ts'

test('a second -- (npm consumes the first) is refused, because it would make Vitest run all tests', () => {
  expect(whyRefused(['--', 'gateway/trades'])).toContain('npm test -- gateway/trades')
  expect(whyRefused(['gateway/trades', '--', '-t', 'a title'])).not.toBeNull()
})

test('paths and options are accepted', () => {
  expect(whyRefused([])).toBeNull()
  expect(whyRefused(['gateway/trades', '--changed', '-t', 'a -- in a title'])).toBeNull()
})
