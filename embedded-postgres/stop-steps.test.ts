import { expect, test } from 'vitest'
import { PHASES_MS } from '../gateway/kit/shutdown.ts'
import { STOP_MS, SUPERVISOR_STOP_MS } from './stop-steps.ts'

test('a stopping gateway waits longer than its supervisor takes to kill PostgreSQL, and less than its shutdown phase lasts', () => {
  expect(STOP_MS).toBeGreaterThan(SUPERVISOR_STOP_MS)
  expect(PHASES_MS.database).toBeGreaterThan(STOP_MS)
})
