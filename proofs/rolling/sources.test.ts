import { expect, test } from 'vitest'
import { migrationFiles } from '../../gateway/db/schema-version.ts'
import { obstacleFor } from './sources.ts'

const migrationsBefore = (first: string) =>
  migrationFiles()
    .map(({ name }) => name)
    .filter((name) => name < first)

test('gateways from before a migration that removes columns cannot run beside those of this tree', () => {
  expect(obstacleFor(migrationsBefore('0009'))).toMatch(/^0009_sealed\.sql .*docs\/upgrading\.md/)
})

test('gateways from after the last migration that removes columns can run beside those of this tree', () => {
  expect(obstacleFor(migrationsBefore('0011'))).toBeUndefined()
})
