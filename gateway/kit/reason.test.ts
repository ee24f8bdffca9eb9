import { expect, it } from 'vitest'
import { reasonOf } from './reason.ts'

it.each([
  ['the message of the cause', new Error('fetch failed', { cause: new Error('refused') }), 'refused'],
  ['its own message if the cause has none', new Error('failed', { cause: new AggregateError([]) }), 'failed'],
  ['its name if there is no message', new AggregateError([]), 'AggregateError'],
  ['its text if it is not an Error', 'refused', 'refused'],
])('the reason of a failure is %s', (_what, error, reason) => {
  expect(reasonOf(error)).toBe(reason)
})
