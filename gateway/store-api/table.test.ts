import { expect, it } from 'vitest'
import { OPERATIONS } from './table.ts'

it('every operation that changes something needs a scope and accepts an Idempotency-Key', () => {
  const posts = OPERATIONS.filter(({ method }) => method !== 'GET')
  expect(posts.length).toBeGreaterThan(5)
  expect(posts.filter(({ scope, idempotent }) => scope === undefined || idempotent !== true)).toEqual([])
})

it('every operation has a unique id and route', () => {
  expect(new Set(OPERATIONS.map(({ id }) => id)).size).toBe(OPERATIONS.length)
  expect(new Set(OPERATIONS.map(({ method, path }) => `${method} ${path}`)).size).toBe(OPERATIONS.length)
})
