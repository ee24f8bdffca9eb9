import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { COLUMNS, Markets } from './sales.tsx'

const MARKET = {
  market: 'waxpeer.com',
  currency: 'USD' as const,
  settlingMinor: 700,
  freeMinor: 900,
  feesMinor: 50,
  saidAt: null,
  settlingDifferenceMinor: -125,
  settlingMayBeRounding: false,
  freeDifferenceMinor: null,
  freeMayBeRounding: false,
}

it('a market’s row shows how far its own figures differ from the books, or that it did not report them', () => {
  const page = renderToStaticMarkup(<Markets markets={[MARKET]} />)
  expect(page).toContain('-$1.25')
  expect(page).toContain('not reported')
  expect(page).toMatch(/Settling differs by.*Free differs by.*-\$1\.25.*not reported/s)
})

it('a difference that may be rounding is shown as such, and not as bad', () => {
  const market = { ...MARKET, settlingDifferenceMinor: 0, freeDifferenceMinor: 3, freeMayBeRounding: true }
  const page = renderToStaticMarkup(<Markets markets={[market]} />)
  expect(page).toMatch(/\$0\.03, may be rounding/)
  expect(page).not.toContain('bad')
})

const SALE = {
  saleId: '1',
  market: 'waxpeer.com',
  reference: '7',
  state: 'paid' as const,
  byHand: false,
  item: '2',
  depositId: '3',
  appId: 730,
  game: 'cs',
  marketHashName: 'AK-47 | Redline (Field-Tested)',
  soldAt: '2026-01-01T12:00:00.000Z',
  settlesAt: null,
  currency: 'USD' as const,
  priceMinor: 1_300,
  receivedMinor: 1_222,
  refundMinor: 0,
  costMinor: 900,
  costCurrency: 'EUR' as const,
  resultMinor: 200,
}

it('the CSV file of sales names the currency of the cost, which can differ from that of the price', () => {
  const cells = Object.fromEntries(COLUMNS.map(({ name, csvValue }) => [name, csvValue?.(SALE)]))
  expect(cells).toMatchObject({ Price: 13, Currency: 'USD', Cost: 9, 'Cost currency': 'EUR' })
})

it('the proceeds of a reversed sale are its refund', () => {
  const sale = { ...SALE, state: 'reversed' as const, receivedMinor: null, refundMinor: 80 }
  const proceeds = COLUMNS.find(({ name }) => name === 'Proceeds')
  expect([proceeds?.show(sale), proceeds?.csvValue?.(sale)]).toEqual(['$0.80', 0.8])
})
