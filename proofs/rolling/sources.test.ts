import { expect, test } from 'vitest'
import { migrationFiles } from '../../gateway/db/schema-version.ts'
import { obstacleFor } from './sources.ts'

const migrationsBefore = (first: string) =>
  migrationFiles()
    .map(({ name }) => name)
    .filter((name) => name < first)

test('gateways that use columns that a later migration removes cannot run alongside those of this tree', () => {
  expect(obstacleFor(migrationsBefore('0009'))).toMatch(/^0009_sealed\.sql .*docs\/upgrading\.md/)
})

test('gateways that know every migration that removes something can run alongside those of this tree', () => {
  expect(obstacleFor(migrationsBefore('0011'))).toBeUndefined()
})
