import { marketNameOf } from './phase.ts'
import { freshOf, type GameRules, type SourcePrice, worthOf, worthOfOverride } from './price.ts'
import { effectOfHolds, nameInForce, type PriceHold } from './price-hold.ts'

export type Verdict =
  | 'accepted'
  /** The item sells too rarely. */
  | 'not_popular'
  /** No source has a recent price. */
  | 'no_price'
  /** There are recent prices, but they cannot be trusted. */
  | 'in_dispute'
  | 'too_cheap'
  | 'blocked'

type VerdictInputs = {
  prices: readonly SourcePrice[]
  holds: readonly PriceHold[]
  rules: GameRules
  now: Date
}

function verdictOf(item: string, { prices, holds, rules, now }: VerdictInputs): Verdict {
  const { blocked, asOf, override } = effectOfHolds(holds, item, now)
  if (blocked) return 'blocked'
  const worth = override === null ? worthOf(prices, rules, asOf) : worthOfOverride(override, rules)
  if (worth.kind === 'priced') return 'accepted'
  switch (worth.reason) {
    case 'notPopular':
      return 'not_popular'
    case 'tooCheap':
      return 'too_cheap'
    case 'noPrice':
      return freshOf(prices, rules, asOf).length === 0 ? 'no_price' : 'in_dispute'
    default:
      return worth.reason satisfies never
  }
}

/** The names whose prices can count for an item of this name. */
export function countedNamesOf(item: string): string[] {
  const marketHashName = marketNameOf(item)
  return marketHashName === undefined ? [item] : [item, marketHashName]
}

type JudgeInputs = Omit<VerdictInputs, 'prices'> & {
  /** Must have the prices of all `countedNamesOf` the item. */
  pricesByName: ReadonlyMap<string, readonly SourcePrice[]>
}

/** The verdict on an item of this name, and the name whose price counts, by the same rule as `priceOfPhase`. */
export function judgeName(
  item: string,
  { pricesByName, ...inputs }: JudgeInputs,
): { pricedAs: string; verdict: Verdict } {
  const judge = (name: string) => ({
    pricedAs: name,
    verdict: verdictOf(name, { ...inputs, prices: pricesByName.get(name) ?? [] }),
  })
  const inForce = judge(nameInForce(inputs.holds, item))
  if (['accepted', 'blocked'].includes(inForce.verdict)) return inForce
  // A phase without a price of its own has that of the market name.
  const marketHashName = marketNameOf(item)
  return marketHashName === undefined ? inForce : judge(marketHashName)
}

/** The lower bounds of the bands, in US dollars. */
export const BANDS_USD = [0, 1, 5, 20, 100, 500] as const

const MICROS_PER_DOLLAR = 1_000_000n

/**
 * Returns the lower bound of the band of the item's median price. Uses the sources' last prices of any age, so an item
 * without a current price has a band too.
 */
export function bandOf(prices: readonly SourcePrice[]): number {
  const amounts = prices.map(({ usdMicros }) => usdMicros).sort((a, b) => (a < b ? -1 : 1))
  // Of an even number of prices, the lower middle one.
  const middle = amounts[(amounts.length - 1) >> 1] ?? 0n
  return BANDS_USD.findLast((bound) => middle >= BigInt(bound) * MICROS_PER_DOLLAR) ?? 0
}
