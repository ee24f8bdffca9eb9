import { describe, expect, test } from 'vitest'
import { INVENTORY_ERROR_TYPES } from '../contract/statuses.ts'
import { RUNS, testAccessibility } from './support/accessibility.ts'

describe('the accessibility of the inventory', () => {
  const runs = RUNS.filter(({ name }) => name.startsWith('inventory'))

  test('is checked for every error', () => {
    const names = runs.map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(INVENTORY_ERROR_TYPES.map((type) => `inventory-${type}`)))
  })

  testAccessibility(runs)
})
