import { expect, it } from 'vitest'
import type { Item } from '../../contract/widget-api.ts'
import type { Stand } from '../flow/state.ts'
import { item, openedOn, play, standOf, withItems } from '../flow/test-states.ts'
import { standTexts } from '../i18n/stand.ts'
import { shownItems } from './shown-items.ts'
import { itemsText } from './voices.tsx'

const ITEMS = [item('1', 200, 'Knife'), item('2', 200, 'Knife'), item('3', 900, 'Case')]

const { en } = standTexts

const textOf = (stand: Stand): string => itemsText(stand, shownItems(stand, en.phases), en)

const spoken = (items: Item[], search: string): string =>
  textOf(standOf(play(withItems(items), { kind: 'searchTyped', text: search }).state))

it.each([
  ['the number of items, equal ones included', ITEMS, '', 'CS2: 3 items'],
  ['how many items a search finds', ITEMS, 'kni', 'CS2: 2 items'],
  ['that a search finds none', ITEMS, ' zzz ', 'No items match “zzz”'],
  ['that no item can be used', [], '', 'None of these items can be used'],
])('a screen reader reads out %s', (_, items, search, text) => {
  expect(spoken(items, search)).toBe(text)
})

it('while the items load, their number is not announced', () => {
  expect(textOf(standOf(openedOn('created')))).toBe('')
  const reloading = play(withItems(ITEMS), { kind: 'reloadPressed' }).state
  expect(textOf(standOf(reloading))).toBe('')
})
