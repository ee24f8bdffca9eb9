/** Chooses the market for each item: the one with the highest proceeds. Pure. */
import type { Line } from './market.ts'
import { ALL_BP, netOf } from './price-policy.ts'

/** `netMinor`: the expected proceeds, after the market's fee. */
export type Bid = Line & { netMinor: bigint }

/** The amount that a sale brings counts only up to this share of the item's price from the vault's own source. */
const MOST_COUNTED_BP = 15_000n

/** `lowestMinor`: the lowest price of others. `knownMinor`: the item's price from the vault's own source. */
type PricedListing = { priceMinor: bigint; lowestMinor: bigint | null; knownMinor: bigint; feeBp: bigint }

/**
 * The expected proceeds of a listing, after the fee. Counts the listing's price, or the lowest price of others if a
 * floor keeps the listing above that price. `MOST_COUNTED_BP` limits how far absurd prices raise a bid.
 */
export function proceedsOf({ priceMinor, lowestMinor, knownMinor, feeBp }: PricedListing): bigint {
  const most = (knownMinor * MOST_COUNTED_BP) / ALL_BP
  const amount = [priceMinor, lowestMinor ?? priceMinor, most].reduce((least, each) =>
    each < least ? each : least,
  )
  return netOf(amount, feeBp)
}

/** `bids`: by market, in the order of set-up. The first of equal bids wins. Returns the won lines of each market. */
export function placeBids(bids: readonly (readonly Bid[])[]): Line[][] {
  const bestByAsset = new Map<string, { market: number; netMinor: bigint }>()
  for (const [market, marketBids] of bids.entries()) {
    for (const { assetId, netMinor } of marketBids) {
      const known = bestByAsset.get(assetId)
      if (known === undefined || netMinor > known.netMinor) bestByAsset.set(assetId, { market, netMinor })
    }
  }
  return bids.map((marketBids, market) =>
    marketBids.flatMap(({ assetId, priceMinor }) =>
      bestByAsset.get(assetId)?.market === market ? [{ assetId, priceMinor }] : [],
    ),
  )
}
