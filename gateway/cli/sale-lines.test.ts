import { expect, it } from 'vitest'
import { saleLines } from './sale-lines.ts'

it.each([
  [null, 'free 10.00 USD (not reported by the market)'],
  [0n, 'free 10.00 USD'],
  [55n, 'free 10.00 USD (THE MARKET SAYS 0.55 USD MORE)'],
  [-55n, 'free 10.00 USD (THE MARKET SAYS 0.55 USD LESS)'],
])(
  'a free balance with a difference of %s from the market’s report is listed as “%s”',
  (freeDifferenceMinor, text) => {
    const [line = ''] = saleLines({
      sales: [],
      totals: [],
      markets: [
        {
          market: 'market.csgo.com',
          currency: 'USD',
          freeMinor: 1_000n,
          freeDifferenceMinor,
          settlingMinor: 0n,
          settlingDifferenceMinor: 0n,
          feesMinor: 0n,
          saidAt: null,
        },
      ],
      isCut: false,
    })
    expect(line.split('\t')).toEqual(['market.csgo.com now', text, 'settling 0.00 USD'])
  },
)
