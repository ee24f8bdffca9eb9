import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { NOBODY } from '../../contract/steam-id.ts'
import { csvShopper, ShopperLink } from '../ui/shopper-link.tsx'
import { Outlook } from './deposit.tsx'

it('a next step whose time is unknown is shown with the words “at an unknown time”', () => {
  const what = 'the offer is open; the countdown is paused'
  const page = renderToStaticMarkup(
    <Outlook view={{ next: [{ at: null, what }], can: [] }} refresh={() => {}} />,
  )
  expect(page).toContain(`<span class="quiet">at an unknown time</span> ${what}`)
})

it('an erased account is called so, on the page and in CSV files, and has no link, while a known one leads to its page', () => {
  const shown = (steamId: string | null) => renderToStaticMarkup(<ShopperLink steamId={steamId} />)
  expect(shown(NOBODY)).toBe('<span class="quiet">erased</span>')
  expect(shown('76561198000000077')).toContain('href="/shoppers/76561198000000077"')
  expect(shown(null)).not.toContain('href')
  expect([NOBODY, '76561198000000077', null].map(csvShopper)).toEqual(['erased', '76561198000000077', null])
})
