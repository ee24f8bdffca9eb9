import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it, vi } from 'vitest'

// While it loads, place.ts adds a listener to the window, which this test does not have.
vi.stubGlobal('addEventListener', () => {})
const { Markets } = await import('./sales.tsx')
vi.unstubAllGlobals()

it('the balances at a market are shown with the differences of the settling and of the free money', () => {
  const market = {
    ...({
      market: 'waxpeer.com',
      currency: 'USD',
      settlingMinor: 700,
      freeMinor: 900,
      feesMinor: 50,
    } as const),
    ...{ saidAt: null, settlingDifferenceMinor: -125, freeDifferenceMinor: null },
  }
  const page = renderToStaticMarkup(<Markets markets={[market]} />)
  expect(page).toContain('-$1.25')
  expect(page).toContain('not reported')
})
