import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it, vi } from 'vitest'

// While it loads, place.ts adds a listener to the window, which this test does not have.
vi.stubGlobal('addEventListener', () => {})
const { Outlook } = await import('./deposit.tsx')
vi.unstubAllGlobals()

it('a next step without a known time is shown as such, not as one that waits for an operator', () => {
  const what = 'the offer is open; its time stands still'
  const page = renderToStaticMarkup(
    <Outlook view={{ next: [{ at: null, what }], can: [] }} refresh={() => {}} />,
  )
  expect(page).toContain(`<span class="quiet">at an unknown time</span> ${what}`)
})
