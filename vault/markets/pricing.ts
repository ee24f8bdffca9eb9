/** Prices of listings, from the prices that the vault fetches, other sellers' prices, and the cost in the till. */
import type { OwnItem } from '../steam/look.ts'
import type { Listing } from './book.ts'
import type { LowestPrices } from './lowest.ts'
import type { Lowest } from './others.ts'
import { type Bid, proceedsOf } from './placement.ts'
import { ALL_BP, listingPrice, type PriceRules, type PriceVerdict } from './price-policy.ts'
import type { Till } from './till.ts'

/** The smallest difference for which a listing's price is changed, in hundredths of a percent. */
const LEAST_CHANGE_BP = 100n

export type Pricing = {
  rules: PriceRules
  mayLose: boolean
  /** True if an item whose cost the till does not know gets no price, even if it may be sold at a loss. */
  needsCost: boolean
  /** Prices in US cents that the vault fetches itself. */
  priceOf(appId: number, name: string): Promise<bigint | undefined | 'unanswered'>
  /** False if the vault's limits never let an item of this price leave: a buyer would wait for it in vain. */
  mayLeave(priceMinor: bigint): boolean
  till: Pick<Till, 'costs'>
  /** The prices of others on this market. */
  lowest: LowestPrices
}

type Context = {
  pricing: Pricing
  /** The share of a price that the market keeps, in hundredths of a percent. */
  feeBp: bigint
  now(): Date
}

type Bidding = Context & {
  appId: number
  listings: readonly Listing[]
  /** Called for each item, with the reason if the item gets no bid. */
  judge(item: OwnItem, because: NoPrice | undefined): void
}

export type NoPrice = Extract<PriceVerdict, { kind: 'none' }>['because'] | 'over_limits'
type Verdict = PriceVerdict | { kind: 'none'; because: NoPrice }

/**
 * Prices of items on this market. Leaves out items whose price the vault could not fetch, those that its limits never
 * let leave, and items of unknown cost, unless `mayLose` is set and `needsCost` is not.
 */
export async function bidsFor(
  items: readonly OwnItem[],
  { appId, listings, judge, ...context }: Bidding,
): Promise<Bid[]> {
  if (items.length === 0) return []
  const facts = await factsOf(appId, items, context)
  return items.flatMap((item): Bid[] => {
    const { assetId, marketHashName } = item
    const onSaleMs = onSaleMsOf(assetId, listings, context.now())
    const verdict = verdictOn(item, { ...context, ...facts, onSaleMs })
    const knownMinor = facts.prices.get(marketHashName)
    judge(item, verdict.kind === 'none' ? verdict.because : undefined)
    if (verdict.kind === 'none' || knownMinor === undefined) return []
    const { minor: priceMinor } = verdict
    context.pricing.lowest.noteOwn(appId, marketHashName, priceMinor)
    const lowestMinor = facts.lowest.get(marketHashName)?.lowestMinor ?? null
    const netMinor = proceedsOf({ priceMinor, lowestMinor, knownMinor, feeBp: context.feeBp })
    return [{ assetId, priceMinor, netMinor }]
  })
}

export type Reprice = { itemId: string; priceMinor: bigint }

/** `overLimits`: listings to take down, because at their new price the limits never let their items leave. */
export type Changes = { reprices: readonly Reprice[]; overLimits: readonly string[] }

/** Returns the listings whose price must change, and those that must end instead. */
export async function changesFor(
  listings: readonly Listing[],
  { items, ...context }: Context & { items: ReadonlyMap<string, OwnItem> | undefined },
): Promise<Changes> {
  const overLimits: string[] = []
  const listed = listings.flatMap((listing) => {
    const item = items?.get(listing.assetId)
    return listing.state === 'on_sale' && item !== undefined ? [{ listing, item }] : []
  })
  const appId = listed[0]?.listing.appId
  if (appId === undefined) return { reprices: [], overLimits }
  const listedItems = listed.map(({ item }) => item)
  const facts = await factsOf(appId, listedItems, context)
  const reprices = listed.flatMap(({ listing, item }): Reprice[] => {
    const { itemId, priceMinor: before, assetId } = listing
    const onSaleMs = onSaleMsOf(assetId, listings, context.now())
    const verdict = verdictOn(item, { ...context, ...facts, onSaleMs })
    if (itemId === null) return []
    if (verdict.kind === 'none') {
      if (verdict.because === 'over_limits') overLimits.push(itemId)
      return []
    }
    const { minor: priceMinor } = verdict
    context.pricing.lowest.noteOwn(appId, item.marketHashName, priceMinor)
    const change = priceMinor > before ? priceMinor - before : before - priceMinor
    return change * ALL_BP >= before * LEAST_CHANGE_BP ? [{ itemId, priceMinor }] : []
  })
  return { reprices, overLimits }
}

/** How long the item has been on sale, without the times between its listings. */
const onSaleMsOf = (assetId: string, listings: readonly Listing[], now: Date): number =>
  listings
    .filter((each) => each.assetId === assetId)
    .reduce((sum, { begunAt, offSaleAt = now }) => sum + Math.max(0, Number(offSaleAt) - Number(begunAt)), 0)

/** `costs`: by asset id. `lowest`: by market hash name. `prices`: from the vault's own source, by market hash name. */
type PriceFacts = {
  costs: ReadonlyMap<string, bigint>
  lowest: ReadonlyMap<string, Lowest>
  prices: ReadonlyMap<string, bigint>
}

/** If the till does not answer, all costs are unknown. */
async function factsOf(appId: number, items: readonly OwnItem[], { pricing }: Context): Promise<PriceFacts> {
  const ids = items.map(({ assetId }) => assetId)
  const costs = await pricing.till.costs(appId, ids).catch(() => new Map<string, bigint>())
  const names = new Set(items.map(({ marketHashName }) => marketHashName))
  const lowest = await pricing.lowest.read(appId, names)
  const prices = new Map<string, bigint>()
  for (const name of names) {
    const price = await pricing.priceOf(appId, name)
    if (typeof price === 'bigint') prices.set(name, price)
  }
  return { costs, prices, lowest }
}

function verdictOn(
  { assetId, marketHashName }: OwnItem,
  { costs, lowest, prices, onSaleMs, pricing, feeBp }: Context & PriceFacts & { onSaleMs: number },
): Verdict {
  if (pricing.needsCost && !costs.has(assetId)) return { kind: 'none', because: 'no_cost' }
  const verdict = listingPrice(
    {
      costMinor: costs.get(assetId) ?? null,
      mayLose: pricing.mayLose,
      ...(lowest.get(marketHashName) ?? { lowestMinor: null, mostMinor: null }),
      knownMinor: prices.get(marketHashName) ?? null,
      onSaleMs,
      feeBp,
    },
    pricing.rules,
  )
  const mayLeave = verdict.kind === 'none' || pricing.mayLeave(verdict.minor)
  return mayLeave ? verdict : { kind: 'none', because: 'over_limits' }
}
