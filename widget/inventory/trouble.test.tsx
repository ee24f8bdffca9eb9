/**
 * In place of an inventory that cannot be shown, the page gives the reason and one button that leads to the solution.
 */
import { expect, it } from 'vitest'
import type { Language } from '../../contract/languages.ts'
import { MOST_UNAVAILABLE_NAMES } from '../../contract/limits.ts'
import type { Inventory } from '../../contract/widget-api.ts'
import type { Flow } from '../flow/runner.ts'
import type { FlowState, InventoryFailure } from '../flow/state.ts'
import { inventory, item, payment, play, standOf, withInventory, withItems } from '../flow/test-states.ts'
import { standTexts } from '../i18n/stand.ts'
import { STEAM_PAGES } from '../steam-pages.ts'
import { markup } from '../test-markup.tsx'
import { Stand } from './stand.tsx'
import { NothingFound, Trouble } from './trouble.tsx'
import { Unavailable } from './unavailable.tsx'

/** A flow that stays in this state. */
const flowOf = (state: FlowState): Flow => ({
  state: () => state,
  dispatch: () => {},
  subscribe: () => () => {},
})

function trouble(failure: InventoryFailure): string {
  const { state } = play(withItems([item('1')]))
  return markup(<Trouble failure={failure} stand={standOf(state)} payment={payment()} flow={flowOf(state)} />)
}

it.each<[InventoryFailure, string, string]>([
  ['accountRestricted', 'it may be limited, signed in on a new device, or banned', STEAM_PAGES.restrictions],
  ['hidden', 'switch “Inventory” to Open (Public)', STEAM_PAGES.privacy],
  ['escrow', 'Turn it on, and come back 7 days after that', STEAM_PAGES.guard],
  ['invalidPartner', 'Your trade link has expired or is incomplete', STEAM_PAGES.tradeSettings],
])('A-074 %s leads to the page of Steam where the shopper can solve it', (failure, why, solution) => {
  const html = trouble(failure)
  expect(html).toContain(why)
  const primary = [...html.matchAll(/<(?:a|button)[^>]*primary[^>]*>/g)].map(([tag]) => tag)
  expect(primary).toEqual([expect.stringContaining(`href="${solution}"`)])
  expect(html).toContain('href="https://store.example/"')
})

it.each<InventoryFailure>(['internal', 'engineeringWorks', 'tooManyLooks'])(
  'A-074 %s offers another try, and no page of Steam',
  (failure) => {
    const html = trouble(failure)
    expect(html).toMatch(/<button[^>]*class="button primary"[^>]*>Try again<\/button>/)
    expect(html).not.toContain('steamcommunity.com')
  },
)

it('while a hidden inventory is read again, its notice stays and the page has no payment panel', () => {
  const loading = play(withItems([item('1')]), { kind: 'reloadPressed' }).state
  const hidden = inventory([], { inventoryError: true, inventoryErrorType: 'hidden' })
  const { state } = play(withInventory(loading, hidden), { kind: 'returned' })
  expect(standOf(state).inventory.status).toBe('loading')
  const html = markup(<Stand stand={standOf(state)} payment={payment()} flow={flowOf(state)} />)
  expect(html).toContain(standTexts.en.inventoryErrors.hidden.title)
  expect(html).not.toMatch(/skeleton|class="summary"/)
})

it('A-074 if the account may not trade, the page does not say that the shopper lacks the game', () => {
  const { description } = standTexts.en.inventoryErrors.tradeNotAvailable
  expect(trouble('tradeNotAvailable')).toContain(description)
  expect(trouble('accountRestricted')).not.toContain(description)
})

/** Returns the text of a search without a result, and the labels of its buttons. */
function nothingFound(unavailableNames: Inventory['unavailableNames'], language: Language = 'en') {
  const { state } = play(withItems([item('1')]))
  const shown = { ...inventory([item('1')]), ...(unavailableNames && { unavailableNames }) }
  const html = markup(<NothingFound inventory={shown} search=" dragon " flow={flowOf(state)} />, language)
  const buttons = [...html.matchAll(/<button[^>]*>([^<]*)</g)].map(([, label]) => label)
  return { shownText: html.replace(/<div class="solutions">.*/, '').replace(/<[^>]+>/g, ''), buttons }
}

it.each<[Language, Inventory['unavailableNames'], string]>([
  ['en', undefined, 'No items match “dragon”'],
  [
    'en',
    { notPopular: ['Dragon Lore'], tooCheap: ['Dragon Sticker'] },
    'No item that matches “dragon” can be used: Dragon Lore (sold too rarely), Dragon Sticker (worth $0.10 or less)',
  ],
  ['ru', undefined, 'По запросу «dragon» ничего не нашлось'],
  [
    'ru',
    { notTradable: ['Dragon Hook'] },
    'Ни один предмет по запросу «dragon» не подходит: Dragon Hook (нельзя передать)',
  ],
])(
  'a search without a result says why in one sentence, and has one button, in %s: %j',
  (language, names, shownText) => {
    expect(nothingFound(names, language)).toEqual({ shownText, buttons: [standTexts[language].searchClear] })
  },
)

it('“why?” names the unusable items, with a number beside a name that several items have', () => {
  const shown = {
    ...inventory([item('1')]),
    unavailableItems: 4,
    unavailableByReason: { notTradable: 3, tooCheap: 1 },
    unavailableNames: { notTradable: ['Case', 'Knife'], tooCheap: ['Sticker'] },
  }
  const names = (counts: Inventory['unavailableCounts']) =>
    [
      ...markup(
        <Unavailable inventory={{ ...shown, ...(counts && { unavailableCounts: counts }) }} />,
      ).matchAll(/class="popover-names">([^<]*)</g),
    ].map(([, list]) => list)
  expect(names({ notTradable: [2, 1], tooCheap: [1] })).toEqual(['Case ×2, Knife', 'Sticker'])
  // An older server sends no counts.
  expect(names(undefined)).toEqual(['Case, Knife', 'Sticker'])
})

it.each([
  [MOST_UNAVAILABLE_NAMES, false],
  [MOST_UNAVAILABLE_NAMES + 1, true],
])('“why?” ends its list with “…” only if names are missing: %d unusable items', (total, isCut) => {
  const names = Array.from({ length: MOST_UNAVAILABLE_NAMES }, (_, index) => `Case ${index}`)
  const shown = {
    ...inventory([item('1')]),
    unavailableItems: total,
    unavailableByReason: { tooCheap: total },
    unavailableNames: { tooCheap: names },
    unavailableCounts: { tooCheap: names.map(() => 1) },
  }
  expect(markup(<Unavailable inventory={shown} />).includes('…')).toBe(isCut)
})
