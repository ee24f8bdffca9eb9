import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type FailingSeed, keepFailingSeed, readFailingSeeds } from './failing-seeds.ts'
import { newSeeds } from './night.ts'

test('the night proof draws new seeds until its time is up', () => {
  let checksLeft = 100
  const seeds = [...newSeeds(() => checksLeft-- <= 0)]
  expect(new Set(seeds).size).toBe(101)
  expect(seeds.every((seed) => Number.isSafeInteger(seed) && seed >= 1_000_000)).toBe(true)
})

test('a failed seed is added to those that are stored already', () => {
  const folder = mkdtempSync(join(tmpdir(), 'night-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'new/failing-seeds.json')
  const failing = (seed: number): FailingSeed => ({
    level: 'pure',
    seed,
    broke: 'paid twice',
    commit: 'abc+',
    at: '2026-01-01T00:00:00.000Z',
  })
  expect(readFailingSeeds(file)).toEqual([])
  keepFailingSeed(file, failing(1_000_001))
  keepFailingSeed(file, failing(1_000_002))
  expect(readFailingSeeds(file)).toEqual([failing(1_000_001), failing(1_000_002)])
})
