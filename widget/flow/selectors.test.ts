import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Payment } from '../../contract/widget-api.ts'
import { standTexts } from '../i18n/stand.ts'
import { otherGames, payBlock, secondsLeft, selectedItems, selectedTotal, visibleItems } from './selectors.ts'
import { type FlowState, SORTS, type Stand } from './state.ts'
import {
  inventory,
  item,
  openedOn,
  payment,
  play,
  shownActivities,
  standOf,
  toggle,
  withItems,
} from './test-states.ts'

const names = (items: readonly { name: string }[]): string[] => items.map(({ name }) => name)
const itemsNamed = (...texts: string[]) => texts.map((name, index) => item(String(index), 100, name))
const namesFound = (query: string, ...texts: string[]) =>
  names(visibleItems(itemsNamed(...texts), query, { sort: 'default' }))

describe('A-090 the search', () => {
  it.each([
    ['нож', '★ НОЖ бабочка'],
    ['НОЖ', 'складной нож'],
    ['ak-47', 'AK-47 | Redline'],
    ['| r', 'AK-47 | Redline'],
    ['strasse', 'Strasse'],
    ['STRASSE', 'strasse'],
    ['ẞ', 'groß'],
    ['İstanbul', 'İSTANBUL'],
    ['ıŞık', 'IŞIK ışık'],
    ['σ', 'ΟΔΟΣ'],
    ['  redline ', 'AK-47 | Redline'],
  ])('%j finds %j', (query, name) => {
    expect(namesFound(query, name, '???')).toEqual([name])
  })

  it('finds a part of a name anywhere in it, and no other names', () => {
    expect(namesFound('line', 'Redline', 'Line', 'Asiimov')).toEqual(['Redline', 'Line'])
    expect(namesFound('xyz', 'Redline')).toEqual([])
    expect(namesFound('.*', 'Redline')).toEqual([])
  })

  it('finds the phase of a Doppler by the word on its card, in the page’s language', () => {
    const items = [{ ...item('1', 100, 'Doppler'), phase: 'ruby' as const }, item('2', 100, 'Doppler')]
    const english = standTexts.en.phases
    const russian = standTexts.ru.phases
    const ids = (search: string, words = english) =>
      visibleItems(items, search, { sort: 'default', words }).map(({ id }) => id)
    expect(ids('RUBY')).toEqual(['1'])
    expect(ids('doppler ruby')).toEqual(['1'])
    expect(ids('рубин', russian)).toEqual(['1'])
    expect(ids('ruby', russian)).toEqual([])
    expect(ids('doppler')).toEqual(['1', '2'])
  })

  it.each(['', '   '])('%j finds everything', (query) => {
    expect(namesFound(query, 'a', 'b')).toEqual(['a', 'b'])
  })

  it('finds any part of any name, whatever the letters are', () => {
    const letters = fc.constantFrom(...'İıßẞŞşAZazНОЖнож™★ |-🔪ΣςσǅŒ')
    const cut = fc.tuple(fc.array(letters, { minLength: 1, maxLength: 12 }), fc.nat(), fc.nat())
    fc.assert(
      fc.property(cut, ([parts, from, length]) => {
        const start = from % parts.length
        const piece = parts.slice(start, start + 1 + (length % parts.length)).join('')
        const name = parts.join('')
        expect(namesFound(piece, name)).toEqual([name])
      }),
    )
  })
})

describe('the order', () => {
  const items = [item('1', 200, 'b'), item('2', 300, 'a'), item('3', 100, 'c'), item('4', 200, 'd')]
  const order = (sort: (typeof SORTS)[number]) => visibleItems(items, '', { sort }).map(({ id }) => id)

  it('A-010 is that of the answer with the sort “default”', () => {
    expect(order('default')).toEqual(['1', '2', '3', '4'])
  })

  it('A-115 A-010 is that of the answer among equal prices', () => {
    expect(order('priceDown')).toEqual(['2', '1', '4', '3'])
    expect(order('priceUp')).toEqual(['3', '1', '4', '2'])
  })

  it('A-115 is by descending price at first', () => {
    expect(standOf(openedOn('created')).sort).toBe('priceDown')
  })

  it.each(SORTS)('%s does not change the answer itself', (sort) => {
    const frozen = Object.freeze([...items])
    expect(visibleItems(frozen, '', { sort })).toHaveLength(4)
    expect(frozen.map(({ id }) => id)).toEqual(['1', '2', '3', '4'])
  })
})

describe('the selection', () => {
  it('keeps the order of the presses, and its total is the sum of the prices', () => {
    const stand = standOf(play(withItems([item('1', 150), item('2', 49)]), toggle('2'), toggle('1')).state)
    expect(selectedItems(stand).map(({ id }) => id)).toEqual(['2', '1'])
    expect(selectedTotal(stand)).toBe(199)
  })

  it('A-085 D-15 paying is possible, or has a reason why it is not', () => {
    const block = (state: FlowState, maxAmount: number | null = null) =>
      payBlock(standOf(state), payment({ maxAmount }))
    const enough = play(withItems([item('1', 300), item('2', 299)]), toggle('1')).state
    expect(block(openedOn('created'))).toBe('loading')
    expect(block(withItems())).toBe('nothingPicked')
    const cheap = item('2', 299)
    expect(block(play(withItems([item('1', 300), cheap]), toggle('2')).state)).toBe('belowMinimum')
    expect(block(withItems([cheap]))).toBe('outOfReach')
    expect(block(play(withItems([cheap]), toggle('2')).state)).toBe('outOfReach')
    expect(block(enough)).toBeNull()
    expect(block(enough, 300)).toBeNull()
    expect(block(play(enough, toggle('2')).state, 598)).toBe('aboveMaximum')
    // The fixture's minimum is 300.
    expect(block(enough, 298)).toBe('minimumAboveMaximum')
    expect(block(play(enough, { kind: 'reloadPressed' }).state)).toBe('loading')
    const error = inventory([], { inventoryError: true, inventoryErrorType: 'hidden' })
    const hidden = play(openedOn('created'), {
      kind: 'inventoryLoaded',
      request: 1,
      inventory: error,
    }).state
    expect(block(hidden)).toBe('loading')
  })
})

describe('A-092 the seconds left', () => {
  it.each([
    [null, 0, null],
    [10_000, 0, 10],
    [10_000, 1, 10],
    [10_000, 999, 10],
    [10_000, 1000, 9],
    [10_000, 9999, 1],
    [10_000, 10_000, 0],
    [10_000, 99_000, 0],
  ])('until %j ms, counted at %j ms, are %j', (deadline, now, expected) => {
    expect(secondsLeft(deadline, now)).toBe(expected)
  })
})

it('a stand whose inventory has loaded has nothing left to load', () => {
  expect(shownActivities(withItems())).toEqual([])
})

describe('the other games that may help', () => {
  const othersWith = (counts: Stand['counts'], games: Payment['games']) =>
    otherGames({ ...standOf(withItems()), counts }, payment({ games }))

  it('are those that the store takes, except the shown one', () => {
    expect(othersWith({}, ['cs', 'rust'])).toEqual([{ game: 'rust', count: null }])
    expect(othersWith({}, ['cs'])).toEqual([])
  })

  it('begin with the game known to have the most usable items, and omit games known to have none', () => {
    expect(othersWith({ dota: 0, tf: 12 }, ['cs', 'dota', 'rust', 'tf'])).toEqual([
      { game: 'tf', count: 12 },
      { game: 'rust', count: null },
    ])
  })
})
