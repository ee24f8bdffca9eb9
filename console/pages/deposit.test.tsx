import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { Outlook } from './deposit.tsx'

it('a next step whose time is unknown is shown with the words “at an unknown time”', () => {
  const what = 'the offer is open; the countdown is paused'
  const page = renderToStaticMarkup(
    <Outlook view={{ next: [{ at: null, what }], can: [] }} refresh={() => {}} />,
  )
  expect(page).toContain(`<span class="quiet">at an unknown time</span> ${what}`)
})
