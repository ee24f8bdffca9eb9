import { expect, it } from 'vitest'
import { payoutColumns } from './books.tsx'

it('the CSV file of payouts names the currency of each amount', () => {
  const payout = {
    payoutId: '7',
    storeId: '1',
    amountMinor: 125_000,
    currency: 'BRL' as const,
    reference: 'wire 7',
    paidAt: '2026-01-01T12:00:00.000Z',
    voidedAt: null,
  }
  const cells = Object.fromEntries(
    payoutColumns(() => {}).map(({ name, csvValue }) => [name, csvValue?.(payout)]),
  )
  expect(cells).toMatchObject({ Amount: 1250, Currency: 'BRL', State: 'paid' })
})
