import { expect, it } from 'vitest'
import { OPERATIONS } from './table.ts'

it('every operation that changes something needs a scope and accepts an Idempotency-Key', () => {
  const writes = OPERATIONS.filter(({ method }) => method !== 'GET')
  expect(writes).not.toEqual([])
  expect(writes.filter(({ scope, idempotent }) => scope === undefined || idempotent !== true)).toEqual([])
})

it('every operation has a unique id and route', () => {
  expect(new Set(OPERATIONS.map(({ id }) => id)).size).toBe(OPERATIONS.length)
  expect(new Set(OPERATIONS.map(({ method, path }) => `${method} ${path}`)).size).toBe(OPERATIONS.length)
})
