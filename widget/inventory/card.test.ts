import { expect, it } from 'vitest'
import { item } from '../flow/test-states.ts'
import { isSameCard } from './card.tsx'

const shown: Parameters<typeof isSameCard>[0] = {
  item: item('1'),
  index: 4,
  column: 1,
  width: 110,
  currency: 'USD',
  count: 2,
  pickedCount: 1,
  isTabStop: false,
  whyId: 'why',
}

it('a card is not drawn again if nothing about it changes', () => {
  expect(isSameCard(shown, { ...shown })).toBe(true)
})

it.each<Partial<typeof shown>>([
  { item: item('2') },
  { index: 5 },
  { column: 0 },
  { width: 109 },
  { currency: 'EUR' },
  { count: 3 },
  { pickedCount: 2 },
  { isTabStop: true },
])('a card is drawn again after the change %j', (change) => {
  expect(isSameCard(shown, { ...shown, ...change })).toBe(false)
})
