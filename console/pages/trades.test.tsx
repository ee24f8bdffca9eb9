import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { CutNotice } from './trades.tsx'

it('a cut list of trades asks the operator to choose a bot, but only if none is chosen', () => {
  expect(renderToStaticMarkup(<CutNotice bot={null} />)).toContain('There are more: choose a bot.')
  expect(renderToStaticMarkup(<CutNotice bot="1" />)).toContain('There are more: these are the oldest.')
})
