import { expect, it } from 'vitest'
import { unusableItems } from './unusable.ts'

const names = {
  noPrice: ['Souvenir AWP | Dragon Lore'],
  tooCheap: ['P250 | Sand Dune', 'Dragon Sticker'],
}

it('a search ignores case, and finds unusable items with the reason', () => {
  expect(unusableItems({ unavailableNames: names }, ' dragon ')).toEqual([
    { name: 'Souvenir AWP | Dragon Lore', reason: 'noPrice' },
    { name: 'Dragon Sticker', reason: 'tooCheap' },
  ])
  expect(unusableItems({ unavailableNames: names }, 'knife')).toEqual([])
  expect(unusableItems({}, 'dragon')).toEqual([])
})

it('a search names at most five unusable items', () => {
  const many = Array.from({ length: 9 }, (_, at) => `Dragon ${at}`)
  expect(unusableItems({ unavailableNames: { tooCheap: many } }, 'dragon')).toHaveLength(5)
})
