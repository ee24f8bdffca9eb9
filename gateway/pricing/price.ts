/** The price of an item. Pure. Sources' prices are in millionths of a US dollar (micros), before commission. */
import type { Game } from '../../contract/games.ts'
import type { UnavailableReason } from '../../contract/statuses.ts'
import { HOUR_MS } from '../kit/duration.ts'
import { toMinorUnits } from './exchange.ts'

export type SourcePrice = {
  source: string
  usdMicros: bigint
  /** The item's weekly level: its typical price over 7 days, by the same source; null if unknown. */
  levelUsdMicros: bigint | null
  popularity: number
  popularityKind: 'sales7d' | 'sales30d' | 'listings'
  asOf: Date
  /** A price of the same source from at least an hour earlier. */
  earlier: { usdMicros: bigint; asOf: Date } | null
}

/** The operator's own price list, whose listings need no second source to make an item popular. */
export const FILE_SOURCE = 'file'

/** Stands for an operator's override among the sources of a quote's prices. */
export const OPERATOR_SOURCE = 'operator'

export type GameRules = {
  /** The operator's share, in hundredths of a percent. */
  commissionBps: number
  /** A price older than this is ignored. */
  freshMs: number
  /** A price older than this is ignored if another source has one at most this old. */
  supersededMs: number
  /** In hundredths of a percent. A larger fall at one source also lowers older prices of other sources. */
  fallBps: number
  /** A popular item has at least this many sales in 7 or 30 days at one source, or listings at each of two. */
  minPopularity: number
  /** The shopper's credit for an item must be more than this, in US cents. */
  mustExceedUsdCents: bigint
  /** How far a price may exceed its weekly level, or two sources may differ, in hundredths of a percent. */
  spikeBps: number
}

export type PricingRules = Readonly<Record<Game, GameRules>>

/** The whole, in hundredths of a percent. */
export const BPS = 10_000n
/** The exchange rate 1, times 10^8: amounts stay in US dollars. */
const USD_PER_USD = 100_000_000n

/** How far a source's clock may run ahead of ours. */
export const AHEAD_MS = 5 * 60_000

/**
 * A stored time further ahead of our clock than this was written by a wrong clock. The clocks of two gateways can be
 * minutes apart, and neither may discard what the other one stored.
 */
export const FAR_AHEAD_MS = HOUR_MS

/** How long a source's last data count for popularity. A failing source must not make items unpopular. */
const POPULAR_MS = 72 * HOUR_MS
/** A fall is measured against a price that is at least `from` older than the current one, and at most `to` old. */
const EARLIER_MS = { from: HOUR_MS, to: 24 * HOUR_MS }

const DEFAULT_GAME_RULES: GameRules = {
  commissionBps: 2_500,
  freshMs: 6 * HOUR_MS,
  supersededMs: HOUR_MS,
  fallBps: 1_000,
  minPopularity: 10,
  mustExceedUsdCents: 10n,
  spikeBps: 3_000,
}

/** The rules of every game, with the operator's settings. */
export function rulesWith(change: (game: Game) => Partial<GameRules>): PricingRules {
  const rulesOf = (game: Game): GameRules => ({ ...DEFAULT_GAME_RULES, ...change(game) })
  return { cs: rulesOf('cs'), dota: rulesOf('dota'), rust: rulesOf('rust'), tf: rulesOf('tf') }
}

/** The same rules with a store's own commission in all games. `commissionBps`: null if the store has none. */
export function withCommission(rules: PricingRules, commissionBps: number | null): PricingRules {
  return commissionBps === null ? rules : rulesWith((game) => ({ ...rules[game], commissionBps }))
}

export const DEFAULT_RULES: PricingRules = rulesWith(() => ({}))

export type Worth =
  | { kind: 'priced'; usdMicros: bigint; levelUsdMicros: bigint | null }
  | { kind: 'unavailable'; reason: Extract<UnavailableReason, 'noPrice' | 'notPopular' | 'tooCheap'> }

/** Judges an item by the prices of its sources. Returns the price before commission, or why the item is not accepted. */
export function worthOf(prices: readonly SourcePrice[], rules: GameRules, now: Date): Worth {
  const fresh = freshOf(prices, rules, now)
  const level = levelOf(fresh, rules)
  const usdMicros = trustedPriceAfterFall(fresh, level, { rules, now })
  if (usdMicros === null) return { kind: 'unavailable', reason: 'noPrice' }
  if (!isPopular(prices, rules, now)) return { kind: 'unavailable', reason: 'notPopular' }
  const creditUsdCents = shopperAmount(usdMicros, USD_PER_USD, rules.commissionBps)
  if (creditUsdCents <= rules.mustExceedUsdCents) return { kind: 'unavailable', reason: 'tooCheap' }
  return { kind: 'priced', usdMicros, levelUsdMicros: level?.usdMicros ?? null }
}

/** The worth of an item whose price the operator set. It needs no source. */
export function worthOfOverride(usdMicros: bigint, rules: GameRules): Worth {
  const creditUsdCents = shopperAmount(usdMicros, USD_PER_USD, rules.commissionBps)
  if (creditUsdCents <= rules.mustExceedUsdCents) return { kind: 'unavailable', reason: 'tooCheap' }
  return { kind: 'priced', usdMicros, levelUsdMicros: null }
}

/** Drops prices that are too old, superseded, or too far in the future. */
export function freshOf(
  prices: readonly SourcePrice[],
  { freshMs, supersededMs }: Pick<GameRules, 'freshMs' | 'supersededMs'>,
  now: Date,
): SourcePrice[] {
  const recent = within(prices, freshMs, now)
  const young = within(recent, supersededMs, now)
  return young.length > 0 ? young : recent
}

function within(prices: readonly SourcePrice[], maxAgeMs: number, now: Date): SourcePrice[] {
  return prices.filter(({ asOf }) => {
    const ageMs = now.getTime() - asOf.getTime()
    return ageMs <= maxAgeMs && ageMs >= -AHEAD_MS
  })
}

/**
 * Returns the price after falls. A fall at one source also lowers the older prices of the others. If that would lower
 * one of them by more than `spikeBps`, the item has no price: a single source must not lower the others that far.
 */
function trustedPriceAfterFall(
  fresh: readonly SourcePrice[],
  level: Level | null,
  { rules, now }: { rules: GameRules; now: Date },
): bigint | null {
  const unfallen = trustedPrice(fresh, level, rules)
  if (unfallen === null) return null
  const fallen = withFalls(fresh, rules, now)
  if (fallen === undefined) return unfallen
  // Lowered prices are rounded down, so one may be a millionth below the limit.
  const isTooFar = fallen.some(
    ({ usdMicros }, index) => raisedByLimit(usdMicros + 1n, rules) < (fresh[index]?.usdMicros ?? 0n),
  )
  return isTooFar ? null : trustedPrice(fallen, level, rules)
}

/**
 * The prices after older ones were lowered by the falls. Undefined if nothing fell, or if a fresher price contradicts
 * each fall.
 */
function withFalls(
  fresh: readonly SourcePrice[],
  { fallBps }: GameRules,
  now: Date,
): SourcePrice[] | undefined {
  const keptBps = BPS - BigInt(fallBps)
  const changes = fresh.map((price) => ({ price, before: earlierOf(price, now) }))
  const hasFallen = ({ price, before }: (typeof changes)[number]) =>
    before !== undefined && price.usdMicros * BPS < before * keptBps
  const falls = changes.filter(
    (change) =>
      hasFallen(change) &&
      !changes.some(
        (other) => other.price.asOf > change.price.asOf && other.before !== undefined && !hasFallen(other),
      ),
  )
  if (falls.length === 0) return undefined
  return changes.map((change) => {
    const { usdMicros, asOf } = change.price
    const laterFalls = hasFallen(change) ? [] : falls.filter(({ price }) => price.asOf > asOf)
    const lowered = laterFalls.map(({ price, before = 1n }) => (usdMicros * price.usdMicros) / before)
    return { ...change.price, usdMicros: ascending([usdMicros, ...lowered])[0] ?? 0n }
  })
}

/** The source's own earlier price, if `EARLIER_MS` allows its age. */
function earlierOf({ earlier, asOf }: SourcePrice, now: Date): bigint | undefined {
  if (earlier === null) return undefined
  const isBefore = asOf.getTime() - earlier.asOf.getTime() >= EARLIER_MS.from
  return isBefore && now.getTime() - earlier.asOf.getTime() <= EARLIER_MS.to ? earlier.usdMicros : undefined
}

/**
 * The median of three or more prices, or the lower of two, so a single source can push it past the prices of the others
 * by at most the limit. A single price counts only with a weekly level, and only if it is not too far below that level.
 * Of two or three prices, the two lowest must agree. No price may exceed the level by more than the limit.
 */
function trustedPrice(fresh: readonly SourcePrice[], level: Level | null, rules: Limit): bigint | null {
  const sorted = ascending(fresh.map((price) => price.usdMicros))
  const middle = lowerMiddle(sorted)
  if (middle === undefined) return null
  if (sorted.length === 1 && (level === null || isFarBelow(middle, level, rules))) return null
  if (sorted.length <= 3 && !agree(sorted.slice(0, 2), rules)) return null
  if (level === null) return middle
  const ceiling = raisedByLimit(level.usdMicros, rules)
  if (middle <= ceiling) return middle
  // Compares the ceiling with the price after the median, which is the true median if a lower price is false.
  const above = sorted[(sorted.length + 1) >> 1] ?? middle
  return level.isBacked || agree([ceiling, above], rules) ? ceiling : null
}

/** How far a price may be above the weekly level, or above another price, and still count. */
type Limit = Pick<GameRules, 'spikeBps'>

/**
 * `isBacked`: the level cannot come from just one of several sources. Any other level can remove a price, but not lower
 * it beyond the limit.
 */
type Level = { usdMicros: bigint; isBacked: boolean }

/** The median of three or more levels, or the lowest of fewer, so a false high level cannot raise the ceiling. */
function levelOf(fresh: readonly SourcePrice[], rules: Limit): Level | null {
  const levels = ascending(
    fresh.flatMap(({ levelUsdMicros }) => (levelUsdMicros === null ? [] : [levelUsdMicros])),
  )
  const usdMicros = lowerMiddle(levels)
  if (usdMicros === undefined) return null
  const isBacked = levels.length === 2 ? agree(levels, rules) : levels.length > 2 || fresh.length === 1
  return { usdMicros, isBacked }
}

/** True if the price of a single source is too far below its level. */
const isFarBelow = (price: bigint, level: Level, { spikeBps }: Limit): boolean =>
  price * BPS < level.usdMicros * (BPS - BigInt(spikeBps))

const raisedByLimit = (value: bigint, { spikeBps }: Limit): bigint => (value * (BPS + BigInt(spikeBps))) / BPS

/** True if the last of these ascending values exceeds the first by at most the limit. */
function agree(sorted: readonly bigint[], { spikeBps }: Limit): boolean {
  const [lowest = 0n] = sorted
  return (sorted.at(-1) ?? lowest) * BPS <= lowest * (BPS + BigInt(spikeBps))
}

const ascending = (values: readonly bigint[]): bigint[] => [...values].sort((a, b) => Number(a - b))

/** The median; of an even number of values, the lower middle one. */
const lowerMiddle = <T>(sorted: readonly T[]): T | undefined => sorted[(sorted.length - 1) >> 1]

/**
 * True if the item has enough sales at one source, or enough listings at two. Listings at a single source are easy to
 * fake. The last data of a failing source count too.
 */
function isPopular(prices: readonly SourcePrice[], { minPopularity }: GameRules, now: Date): boolean {
  const enough = within(prices, POPULAR_MS, now).filter(({ popularity }) => popularity >= minPopularity)
  const isEnoughAlone = ({ source, popularityKind }: SourcePrice) =>
    popularityKind !== 'listings' || source === FILE_SOURCE
  return enough.length > 1 || enough.some(isEnoughAlone)
}

/**
 * Returns the shopper's credit in minor units, rounded down. `rate` is units of the currency for one dollar, times 10^8.
 */
export function shopperAmount(usdMicros: bigint, rate: bigint, commissionBps: number): bigint {
  return toMinorUnits(usdMicros * (BPS - BigInt(commissionBps)), rate) / BPS
}
