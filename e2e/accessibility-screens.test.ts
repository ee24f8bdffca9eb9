import { describe, expect, test } from 'vitest'
import { RUNS, testAccessibility } from './support/accessibility.ts'

describe('every other screen and state is accessible', () => {
  test('and the checks take at most 60 runs, including those of the inventory', () =>
    expect(RUNS.length).toBeLessThanOrEqual(60))

  testAccessibility(RUNS.filter(({ name }) => !name.startsWith('inventory')))
})
