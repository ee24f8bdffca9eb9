import { describe, expect, test } from 'vitest'
import { RUNS, testAccessibility } from './support/accessibility.ts'

describe('the accessibility of every screen but the inventory', () => {
  test('is checked in at most 60 runs, including those of the inventory', () =>
    expect(RUNS.length).toBeLessThanOrEqual(60))

  testAccessibility(RUNS.filter(({ name }) => !name.startsWith('inventory')))
})
