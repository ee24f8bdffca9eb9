/** The choice of a market for an item, the proceeds of a listing, and the fees of markets. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bookOf, type Listing, type SaleEntry } from './book.ts'
import { feeOf } from './fees.ts'
import { type Bid, placeBids, proceedsOf } from './placement.ts'
import { DEFAULT_RULES } from './price-policy.ts'
import { bidsFor } from './pricing.ts'

const bid = (assetId: string, netMinor: bigint): Bid => ({ assetId, netMinor, priceMinor: netMinor + 5n })
const line = ({ assetId, priceMinor }: Bid) => ({ assetId, priceMinor })

describe('an item', () => {
  it('goes to the market with the highest proceeds, or to the first of equal markets', () => {
    const [cap, blade, boots] = [bid('1', 90n), bid('2', 50n), bid('3', 70n)]
    const bids = [
      [cap, blade, boots],
      [bid('1', 89n), bid('2', 51n), bid('3', 70n)],
    ]
    expect(placeBids(bids)).toEqual([[line(cap), line(boots)], [line(bid('2', 51n))]])
  })

  it('goes to the second market if the first has no bid for it', () => {
    expect(placeBids([[], [bid('1', 1n)]])).toEqual([[], [line(bid('1', 1n))]])
  })

  it('goes to exactly one market if there is a bid for it, whatever the bids are', () => {
    const anyBid = fc.record({
      assetId: fc.constantFrom('1', '2', '3'),
      net: fc.bigInt({ min: 0n, max: 9n }),
    })
    const bidsOfMarket = fc.uniqueArray(anyBid, { selector: ({ assetId }) => assetId })
    fc.assert(
      fc.property(fc.array(bidsOfMarket, { maxLength: 4 }), (markets) => {
        const bids = markets.map((each) => each.map(({ assetId, net }) => bid(assetId, net)))
        const lines = placeBids(bids).flat()
        expect(new Set(lines.map(({ assetId }) => assetId)).size).toBe(lines.length)
        expect(new Set(bids.flat().map(({ assetId }) => assetId)).size).toBe(lines.length)
      }),
    )
  })
})

describe('the proceeds of a listing', () => {
  const proceeds = (change: Partial<Parameters<typeof proceedsOf>[0]>) =>
    proceedsOf({ priceMinor: 1_000n, lowestMinor: 1_001n, knownMinor: 1_000n, feeBp: 500n, ...change })

  it('are its price less the fee', () => {
    expect(proceeds({})).toBe(950n)
    expect(proceeds({ feeBp: 0n, lowestMinor: null })).toBe(1_000n)
  })

  it('are computed from the lowest price of others if a floor holds the price above that', () => {
    expect(proceeds({ priceMinor: 1_000n, lowestMinor: 800n })).toBe(760n)
  })

  it('are at most one and a half times the price from the vault’s own source', () => {
    expect(proceeds({ priceMinor: 9_999n, lowestMinor: 10_000n, feeBp: 0n })).toBe(1_500n)
  })
})

describe('the fee of a market', () => {
  const sale = (market: string, priceMinor: bigint, receivedMinor: bigint): Listing => ({
    market,
    account: null,
    appId: 570,
    assetId: '1',
    priceMinor,
    itemId: '1',
    begunAt: new Date(),
    state: 'given',
    end: { kind: 'paid', receivedMinor },
  })
  const fee = (listings: Listing[], statedBp: bigint | null = null) => feeOf({ listings }, 'm', statedBp)

  it('is the share that the market kept of the latest sales', () => {
    expect(fee([sale('m', 1_000n, 900n), sale('m', 1_000n, 940n), sale('other', 1_000n, 500n)], 100n)).toBe(
      800n,
    )
    // Only the latest 20 sales count.
    const latest = Array.from({ length: 20 }, () => sale('m', 1_000n, 950n))
    expect(fee([sale('m', 100_000n, 70_000n), ...latest])).toBe(500n)
    // The exact value is 600.6. A fee is rounded up, so the floor of a price is never too low.
    expect(fee([sale('m', 999n, 939n)])).toBe(601n)
  })

  it('is not the cents that are lost by rounding the proceeds of cheap items', () => {
    // At 5 %, the market pays 28 and 95 thousandths of a dollar. The record has whole cents.
    const cheap = (priceMinor: bigint, receivedMinor: bigint) =>
      Array.from({ length: 20 }, () => sale('m', priceMinor, receivedMinor))
    expect(fee(cheap(3n, 2n))).toBe(500n)
    expect(fee(cheap(10n, 9n), 600n)).toBe(600n)
    // Rounding explains less than 20 of these 40 cents, and 5 % only ten of them.
    expect(fee(cheap(10n, 8n))).toBe(2_000n)
    // The market kept less than the stated fee.
    expect(fee(cheap(100n, 97n), 600n)).toBe(300n)
  })

  it('is the stated fee before the first sale, or an assumption if the market states no fee', () => {
    expect(fee([], 600n)).toBe(600n)
    expect(fee([])).toBe(500n)
  })

  it('is bounded, even if a market paid next to nothing', () => {
    expect(fee([sale('m', 1_000n, 10n)])).toBe(3_000n)
    expect(fee([], 9_999n)).toBe(3_000n)
    expect(fee([], -1n)).toBe(0n)
  })
})

/** The bids for one item that the till has not booked. */
const bidsOn = (
  change: Partial<Parameters<typeof bidsFor>[1]>,
  { priceMinor = 900n, needsCost = false } = {},
) =>
  bidsFor([{ assetId: '1', marketHashName: 'Cap', isTradable: true }], {
    appId: 570,
    listings: [],
    feeBp: 500n,
    now: () => new Date(),
    judge() {},
    pricing: {
      rules: DEFAULT_RULES,
      mayLose: true,
      needsCost,
      priceOf: async () => priceMinor,
      mayLeave: () => true,
      till: { costs: async () => new Map() },
      lowest: { read: async () => new Map(), noteOwn() {} },
    },
    ...change,
  })

it('an item that the till has not booked is not sold by a collecting bot, even if items may be sold at a loss', async () => {
  expect(await bidsOn({}, { needsCost: true })).toEqual([])
  expect(await bidsOn({})).toHaveLength(1)
})

it('an item is discounted for its days on sale, not for those between two listings or after the last one', async () => {
  const dayMs = 86_400_000
  const item = { market: 'm', appId: 570, assetId: '1' }
  const begun = { kind: 'listing_begun', ...item, account: null, priceMinor: 999n } as const
  const on = (day: number, entry: SaleEntry) => ({ at: new Date(day * dayMs), entry })
  const { listings } = bookOf([
    on(0, begun),
    on(0, { kind: 'listed', ...item, itemId: '101' }),
    // For example, the account was banned from selling for a month.
    on(2, { kind: 'unlisted', market: 'm', itemId: '101' }),
    on(32, begun),
    on(32, { kind: 'listed', ...item, itemId: '102' }),
    on(33, { kind: 'unlisted', market: 'm', itemId: '102' }),
  ])
  const [bid] = await bidsOn({ listings, now: () => new Date(40 * dayMs) }, { priceMinor: 1_001n })
  expect(bid?.priceMinor).toBe(970n)
})
