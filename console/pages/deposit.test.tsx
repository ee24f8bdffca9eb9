import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { Outlook } from './deposit.tsx'

it('a next step without a known time is shown as such, not as one that waits for an operator', () => {
  const what = 'the offer is open; its time stands still'
  const page = renderToStaticMarkup(
    <Outlook view={{ next: [{ at: null, what }], can: [] }} refresh={() => {}} />,
  )
  expect(page).toContain(`<span class="quiet">at an unknown time</span> ${what}`)
})
