/** The price at which an item is listed. Pure. Amounts are minor units of the market's currency. */
import { DAY_MS } from '../durations.ts'

export type PriceRules = {
  /** How far to undercut the cheapest listing of others, or `knownMinor` if no such listing is known. */
  stepMinor: bigint
  /** The least profit after the fee, in hundredths of a percent of the item's cost. */
  marginBp: bigint
  /** The discount for each day on sale, and the largest discount in all. */
  dropBpPerDay: bigint
  mostDropBp: bigint
  /** The lowest price, as a share of `knownMinor`. It holds even if the operator allows a loss. */
  floorBp: bigint
}

export const DEFAULT_RULES: PriceRules = {
  stepMinor: 1n,
  marginBp: 0n,
  dropBpPerDay: 100n,
  mostDropBp: 1_000n,
  floorBp: 8_000n,
}

export type ItemToPrice = {
  /** The amount credited for the item; null if unknown. */
  costMinor: bigint | null
  /** True if the operator allows a sale at a loss. */
  mayLose: boolean
  /** The price of the cheapest listing of others on this market; null if none is known. */
  lowestMinor: bigint | null
  /** The price must not exceed this, unless a floor is higher; null if there is no maximum. */
  mostMinor: bigint | null
  /** The item's price from the vault's own source; null if there is none. */
  knownMinor: bigint | null
  onSaleMs: number
  /** The share of a price that the market keeps, in hundredths of a percent. */
  feeBp: bigint
}

/** `no_price`: the vault found no price. `no_cost`: the item's cost is unknown. */
export type PriceVerdict =
  | { kind: 'price'; minor: bigint }
  | { kind: 'none'; because: 'no_price' | 'no_cost' }

/** 100 %, in hundredths of a percent. */
export const ALL_BP = 10_000n

export function listingPrice(item: ItemToPrice, rules: PriceRules): PriceVerdict {
  const { costMinor, mayLose, lowestMinor, mostMinor, knownMinor, onSaleMs, feeBp } = item
  if (knownMinor === null || knownMinor <= 0n) return { kind: 'none', because: 'no_price' }
  if (costMinor === null && !mayLose) return { kind: 'none', because: 'no_cost' }
  const days = BigInt(Math.max(0, Math.floor(onSaleMs / DAY_MS)))
  const dropBp = smaller(days * rules.dropBpPerDay, rules.mostDropBp)
  const undercutMinor = (lowestMinor ?? knownMinor) - rules.stepMinor
  const droppedMinor = (undercutMinor * (ALL_BP - dropBp)) / ALL_BP
  const targetMinor = mostMinor === null ? droppedMinor : smaller(droppedMinor, mostMinor)
  const ownFloorMinor = roundUp(knownMinor * rules.floorBp)
  const leastNetMinor = mayLose || costMinor === null ? 1n : roundUp(costMinor * (ALL_BP + rules.marginBp))
  const costFloorMinor = mayLose ? leastNetMinor : grossOf(leastNetMinor, feeBp)
  return { kind: 'price', minor: larger(larger(targetMinor, ownFloorMinor), larger(costFloorMinor, 1n)) }
}

/** The part of a price that is left after the market's fee, rounded down. */
export const netOf = (minor: bigint, feeBp: bigint): bigint => (minor * (ALL_BP - feeBp)) / ALL_BP

/** The lowest price that leaves this amount after the fee. */
function grossOf(net: bigint, feeBp: bigint): bigint {
  const keptBp = ALL_BP - feeBp
  return (net * ALL_BP + keptBp - 1n) / keptBp
}

const roundUp = (minorTimesBp: bigint): bigint => (minorTimesBp + ALL_BP - 1n) / ALL_BP
const smaller = (one: bigint, other: bigint): bigint => (one < other ? one : other)
const larger = (one: bigint, other: bigint): bigint => (one > other ? one : other)
