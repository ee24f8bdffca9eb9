import { expect, test } from 'vitest'
import { smallestCover } from './cover.ts'
import type { Fault } from './faults.ts'

const seed = (number: number, ...faults: Fault[]) => ({
  seed: number,
  faults: new Map(faults.map((fault) => [fault, 1])),
})

test('the cover is the smallest set of seeds whose runs meet every fault', () => {
  const outcomes = [
    seed(1, 'crash', 'escrow', 'lost job'),
    seed(2, 'crash', 'poison job'),
    seed(3, 'escrow', 'lost job', 'stale read'),
  ]
  const faults: Fault[] = ['crash', 'escrow', 'lost job', 'poison job', 'stale read']
  expect(smallestCover(faults, outcomes)).toEqual([2, 3])
})

test('there is no cover if one of the faults is met by no seed', () => {
  expect(smallestCover(['crash', 'escrow'], [seed(1, 'crash')])).toBeUndefined()
})
