import { expect, it } from 'vitest'
import { saleLines } from './sale-lines.ts'

it.each([
  [null, false, 'free 10.00 USD (not reported by the market)'],
  [0n, false, 'free 10.00 USD'],
  [55n, false, 'free 10.00 USD (THE MARKET SAYS 0.55 USD MORE)'],
  [-55n, false, 'free 10.00 USD (THE MARKET SAYS 0.55 USD LESS)'],
  [3n, true, 'free 10.00 USD (the market says 0.03 USD more, which may be rounding)'],
])(
  'a free balance with a difference of %s from the market’s report, which may be rounding: %s, is listed as “%s”',
  (freeDifferenceMinor, freeMayBeRounding, text) => {
    const [line = ''] = saleLines({
      sales: [],
      totals: [],
      markets: [
        {
          market: 'market.csgo.com',
          currency: 'USD',
          freeMinor: 1_000n,
          freeDifferenceMinor,
          freeMayBeRounding,
          settlingMinor: 0n,
          settlingDifferenceMinor: 0n,
          settlingMayBeRounding: false,
          feesMinor: 0n,
          saidAt: null,
        },
      ],
      isCut: false,
    })
    expect(line.split('\t')).toEqual(['market.csgo.com now', text, 'settling 0.00 USD'])
  },
)

const SALE = {
  saleId: 1n,
  market: 'market.csgo.com',
  reference: '7',
  state: 'sold',
  byHand: false,
  item: '3-9',
  depositId: 1001n,
  appId: 730,
  game: 'cs',
  marketHashName: 'USP-S | Kill Confirmed (Field-Tested)',
  soldAt: new Date(0),
  settlesAt: null,
  currency: 'USD',
  priceMinor: 5_379n,
  receivedMinor: null,
  refundMinor: 0n,
  costMinor: 4_117n,
  costCurrency: 'USD',
  resultMinor: null,
} as const

it.each([
  ['sold', 'open'],
  ['delivered', 'open'],
  ['refused', 'none'],
  ['cancelled', 'none'],
] as const)('a %s sale without money is listed with “%s”', (state, text) => {
  const [line = ''] = saleLines({ sales: [{ ...SALE, state }], totals: [], markets: [], isCut: false })
  expect(line.split('\t').slice(-3)).toEqual([`received ${text}`, 'cost 41.17 USD', `result ${text}`])
})

it('a reversed sale is listed with its refund, which alone is its result', () => {
  const sale = { ...SALE, state: 'reversed', refundMinor: 80n, resultMinor: 80n } as const
  const [line = ''] = saleLines({ sales: [sale], totals: [], markets: [], isCut: false })
  expect(line.split('\t').slice(-3)).toEqual(['refund 0.80 USD', 'cost 41.17 USD', 'result 0.80 USD'])
})
