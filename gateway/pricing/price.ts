/** What an item is worth here, pure. Money of sources is in millionths of a US dollar (micros), before commission. */
import type { UnavailableReason } from '../../contract/statuses.ts'
import { toMinorUnits } from './exchange.ts'

export type SourcePrice = {
  usdMicros: bigint
  popularity: number
  popularityKind: 'sales7d' | 'listings'
  asOf: Date
}

export type PricingRules = {
  /** What the operator keeps, in hundredths of a percent. */
  commissionBps: number
  /** A price older than this says nothing. */
  freshMs: number
  /** Fewest sales in 7 days of a popular item, or listings where no source counts sales. */
  minPopularity: number
  /** An item must be worth more than this, in US cents as the shopper would see them. */
  minWorthUsdCents: bigint
}

const HOUR_MS = 3_600_000
const BPS = 10_000n
const USD_PER_USD = 100_000_000n

/** How far a source's clock may run ahead of ours. */
const AHEAD_MS = 5 * 60_000

export const DEFAULT_RULES: PricingRules = {
  commissionBps: 2_500,
  freshMs: 6 * HOUR_MS,
  minPopularity: 10,
  minWorthUsdCents: 10n,
}

export type Worth =
  | { kind: 'priced'; usdMicros: bigint }
  | { kind: 'unavailable'; reason: Extract<UnavailableReason, 'noPrice' | 'notPopular' | 'tooCheap'> }

/** Judges an item by what the sources say of it: the price before commission, or why there is none. */
export function worthOf(prices: readonly SourcePrice[], rules: PricingRules, now: Date): Worth {
  const fresh = prices.filter(({ asOf }) => isFresh(now.getTime() - asOf.getTime(), rules))
  const usdMicros = median(fresh.map((price) => price.usdMicros))
  if (usdMicros === undefined) return { kind: 'unavailable', reason: 'noPrice' }
  if (popularity(fresh) < rules.minPopularity) return { kind: 'unavailable', reason: 'notPopular' }
  const seen = shopperAmount(usdMicros, USD_PER_USD, rules.commissionBps)
  if (seen <= rules.minWorthUsdCents) return { kind: 'unavailable', reason: 'tooCheap' }
  return { kind: 'priced', usdMicros }
}

function isFresh(ageMs: number, { freshMs }: PricingRules): boolean {
  return ageMs <= freshMs && ageMs >= -AHEAD_MS
}

/** The lower of the two in the middle: what only half of the sources claim is not paid. */
export function median(values: readonly bigint[]): bigint | undefined {
  const sorted = [...values].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  return sorted[(sorted.length - 1) >> 1]
}

/** Sales count where any source knows them; listings are cheap to fake. */
function popularity(prices: readonly SourcePrice[]): number {
  const sales = prices.filter(({ popularityKind }) => popularityKind === 'sales7d')
  const counted = sales.length > 0 ? sales : prices
  return Math.max(...counted.map((price) => price.popularity))
}

/**
 * What the shopper is credited, in minor units. `rate` is units of the currency for one dollar, times 10^8.
 * Rounded down once, at the end.
 */
export function shopperAmount(usdMicros: bigint, rate: bigint, commissionBps: number): bigint {
  return toMinorUnits(usdMicros * (BPS - BigInt(commissionBps)), rate) / BPS
}
