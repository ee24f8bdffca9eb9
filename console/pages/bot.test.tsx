import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { Calls } from './bot.tsx'

it('if no offer was refused or kept back, a bot’s page says so below the calls of the last hour', () => {
  const calls = { asked: 83, limited: 2, failed: 1, heldBack: 0 }
  const page = renderToStaticMarkup(<Calls view={{ calls, refusals: [] }} />)
  expect(page).toMatch(/Answered 429.*>2<.*No offer was refused or kept back\./s)
})
