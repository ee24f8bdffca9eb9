/** At which market each item is listed: where it brings most. Pure. */
import type { Line } from './market.ts'
import { netOf } from './price-policy.ts'

/** `netMinor`: what it would bring there, after the market's fee. */
export type Bid = Line & { netMinor: bigint }

/** The word of a market about the offers of others counts up to this share of the vault's own price. */
const MOST_REACH_BP = 15_000n
const ALL_BP = 10_000n

type Reach = { priceMinor: bigint; bestMinor: bigint | null; knownMinor: bigint; feeBp: bigint }

/**
 * The proceeds of a listing: its price, or the best offer of others where a floor holds it above that. A market that shows
 * absurd offers attracts no items with them.
 */
export function reachOf({ priceMinor, bestMinor, knownMinor, feeBp }: Reach): bigint {
  const most = (knownMinor * MOST_REACH_BP) / ALL_BP
  const reached = [priceMinor, bestMinor ?? priceMinor, most].reduce((least, each) =>
    each < least ? each : least,
  )
  return netOf(reached, feeBp)
}

/** In the order in which the markets were set up: the first of equals takes the item. An array for each, in their order. */
export function placed(bids: readonly (readonly Bid[])[]): Line[][] {
  const best = new Map<string, { at: number; netMinor: bigint }>()
  for (const [at, own] of bids.entries()) {
    for (const { assetId, netMinor } of own) {
      const known = best.get(assetId)
      if (known === undefined || netMinor > known.netMinor) best.set(assetId, { at, netMinor })
    }
  }
  return bids.map((own, at) =>
    own.flatMap(({ assetId, priceMinor }) => (best.get(assetId)?.at === at ? [{ assetId, priceMinor }] : [])),
  )
}
