import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it, vi } from 'vitest'

// While it loads, place.ts adds a listener to the window, which this test does not have.
vi.stubGlobal('addEventListener', () => {})
const { CutNotice } = await import('./trades.tsx')
vi.unstubAllGlobals()

it('a list of trades that is cut asks for a bot only if none is chosen', () => {
  expect(renderToStaticMarkup(<CutNotice bot={null} />)).toContain('There are more: choose a bot.')
  expect(renderToStaticMarkup(<CutNotice bot="1" />)).toContain('There are more: these are the oldest.')
})
