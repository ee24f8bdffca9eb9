import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { Markets } from './sales.tsx'

it('the balances at a market are shown with the differences of the settling and of the free money', () => {
  const market = {
    market: 'waxpeer.com',
    currency: 'USD' as const,
    settlingMinor: 700,
    freeMinor: 900,
    feesMinor: 50,
    saidAt: null,
    settlingDifferenceMinor: -125,
    freeDifferenceMinor: null,
  }
  const page = renderToStaticMarkup(<Markets markets={[market]} />)
  expect(page).toContain('-$1.25')
  expect(page).toContain('not reported')
  expect(page).toMatch(/Settling differs by.*Free differs by.*-\$1\.25.*not reported/s)
})
