/**
 * In place of an inventory that cannot be shown, the page gives the reason and one button that leads to the solution.
 */
import { expect, it } from 'vitest'
import type { Flow } from '../flow/runner.ts'
import type { InventoryFailure } from '../flow/state.ts'
import { having, item, payment, standOf, withItems } from '../flow/test-states.ts'
import { STEAM_PAGES } from '../steam-pages.ts'
import { markup } from '../test-markup.tsx'
import { Trouble } from './trouble.tsx'

function trouble(failure: InventoryFailure): string {
  const { state } = having(withItems([item('1')]))
  const flow: Flow = {
    state: () => state,
    dispatch: () => {},
    subscribe: () => () => {},
  }
  return markup(<Trouble failure={failure} stand={standOf(state)} payment={payment()} flow={flow} />)
}

it.each<[InventoryFailure, string, string]>([
  ['accountRestricted', 'it may be limited, signed in on a new device, or banned', STEAM_PAGES.restrictions],
  ['hidden', 'switch “Inventory” to Open (Public)', STEAM_PAGES.privacy],
  ['escrow', 'Turn it on, and come back 7 days after that', STEAM_PAGES.guard],
  ['invalidPartner', 'Your trade link has expired or is incomplete', STEAM_PAGES.tradeSettings],
])('A-074 %s leads to the page of Steam where the shopper can solve it', (failure, why, door) => {
  const markup = trouble(failure)
  expect(markup).toContain(why)
  const primary = [...markup.matchAll(/<(?:a|button)[^>]*primary[^>]*>/g)].map(([tag]) => tag)
  expect(primary).toEqual([expect.stringContaining(`href="${door}"`)])
  expect(markup).toContain('href="https://store.example/"')
})

it.each<InventoryFailure>(['internal', 'engineeringWorks', 'tooManyLooks'])(
  'A-074 %s offers another try, and no page of Steam',
  (failure) => {
    const markup = trouble(failure)
    expect(markup).toMatch(/<button[^>]*class="button primary"[^>]*>Try again<\/button>/)
    expect(markup).not.toContain('steamcommunity.com')
  },
)

it('A-074 an account that may not trade is never called empty', () => {
  expect(trouble('accountRestricted')).not.toContain('you do not own this game')
})
