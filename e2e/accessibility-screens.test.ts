import { describe, expect, test } from 'vitest'
import { RUNS, testAccessibility } from './support/accessibility.ts'

test('the accessibility of all screens, the inventory included, is checked in at most 60 runs', () =>
  expect(RUNS.length).toBeLessThanOrEqual(60))

describe('the accessibility of every screen but the inventory', () => {
  testAccessibility(RUNS.filter(({ name }) => !name.startsWith('inventory')))
})
