import { expect, it } from 'vitest'
import { createTurns } from './turns.ts'

const items = (...ids: string[]) => ids.map((assetId) => ({ assetId }))
const idsOf = (taken: { assetId: string }[]) => taken.map(({ assetId }) => assetId).join('')

it('items take turns in the inventory’s order, and each has a first turn before any has a second', () => {
  const turns = createTurns()
  const take = () => idsOf(turns.take(['m'], items('a', 'b', 'c', 'd', 'e'), 2))
  expect([take(), take(), take(), take()]).toEqual(['ab', 'cd', 'ea', 'bc'])
})

it('a new item comes before items that had a turn', () => {
  const turns = createTurns()
  turns.take(['m'], items('a', 'b'), 2)
  expect(idsOf(turns.take(['m'], items('a', 'b', 'z'), 1))).toBe('z')
})

it('each item has a turn in each queue, even if the queues alternate', () => {
  const turns = createTurns()
  const fourItems = items('a', 'b', 'c', 'd')
  const seen = { m: '', n: '' }
  for (let round = 0; round < 2; round += 1) {
    seen.m += idsOf(turns.take(['m'], fourItems, 2))
    seen.n += idsOf(turns.take(['n'], fourItems, 2))
  }
  expect(seen).toEqual({ m: 'abcd', n: 'abcd' })
})
