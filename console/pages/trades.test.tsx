import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { CutNotice } from './trades.tsx'

it('an incomplete list of trades asks the operator to choose a bot, or says that it shows a bot’s oldest', () => {
  expect(renderToStaticMarkup(<CutNotice bot={null} />)).toContain('There are more: choose a bot.')
  expect(renderToStaticMarkup(<CutNotice bot="1" />)).toContain('There are more: these are the oldest.')
})
