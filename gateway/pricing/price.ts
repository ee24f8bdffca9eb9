/** What an item is worth here, pure. Money of sources is in millionths of a US dollar (micros), before commission. */
import { GAMES, type Game } from '../../contract/games.ts'
import type { UnavailableReason } from '../../contract/statuses.ts'
import { toMinorUnits } from './exchange.ts'

export type SourcePrice = {
  source: string
  usdMicros: bigint
  /** What the item was worth over the last 7 days by the same source; null while nobody can tell. */
  levelUsdMicros: bigint | null
  popularity: number
  popularityKind: 'sales7d' | 'listings'
  asOf: Date
}

export type GameRules = {
  /** What the operator keeps, in hundredths of a percent. */
  commissionBps: number
  /** A price older than this says nothing. */
  freshMs: number
  /** Fewest sales in 7 days of a popular item, or listings where no source counts sales. */
  minPopularity: number
  /** An item must be worth more than this, in US cents as the shopper would see them. */
  minWorthUsdCents: bigint
  /** How far a price may stand above its 7-day level, or two sources apart, in hundredths of a percent. */
  spikeBps: number
}

export type PricingRules = Readonly<Record<Game, GameRules>>

const HOUR_MS = 3_600_000
const BPS = 10_000n
const USD_PER_USD = 100_000_000n

/** How far a source's clock may run ahead of ours. */
const AHEAD_MS = 5 * 60_000

const DEFAULT_GAME_RULES: GameRules = {
  commissionBps: 2_500,
  freshMs: 6 * HOUR_MS,
  minPopularity: 10,
  minWorthUsdCents: 10n,
  spikeBps: 3_000,
}

/** The rules of every game, with what the operator set for it. */
export function rulesWith(change: (game: Game) => Partial<GameRules>): PricingRules {
  const [cs, dota, rust, tf] = GAMES.map((game) => ({ ...DEFAULT_GAME_RULES, ...change(game) }))
  return {
    cs: cs ?? DEFAULT_GAME_RULES,
    dota: dota ?? DEFAULT_GAME_RULES,
    rust: rust ?? DEFAULT_GAME_RULES,
    tf: tf ?? DEFAULT_GAME_RULES,
  }
}

export const DEFAULT_RULES: PricingRules = rulesWith(() => ({}))

export type Worth =
  | { kind: 'priced'; usdMicros: bigint; levelUsdMicros: bigint | null }
  | { kind: 'unavailable'; reason: Extract<UnavailableReason, 'noPrice' | 'notPopular' | 'tooCheap'> }

/** Judges an item by what the sources say of it: the price before commission, or why there is none. */
export function worthOf(prices: readonly SourcePrice[], rules: GameRules, now: Date): Worth {
  const fresh = freshOf(prices, rules, now)
  const levelUsdMicros = levelOf(fresh)
  const usdMicros = believed(fresh, levelUsdMicros, rules)
  if (usdMicros === null) return { kind: 'unavailable', reason: 'noPrice' }
  if (popularity(fresh) < rules.minPopularity) return { kind: 'unavailable', reason: 'notPopular' }
  const seen = shopperAmount(usdMicros, USD_PER_USD, rules.commissionBps)
  if (seen <= rules.minWorthUsdCents) return { kind: 'unavailable', reason: 'tooCheap' }
  return { kind: 'priced', usdMicros, levelUsdMicros }
}

/** What is neither too old nor from the future. */
export function freshOf(
  prices: readonly SourcePrice[],
  { freshMs }: Pick<GameRules, 'freshMs'>,
  now: Date,
): SourcePrice[] {
  return prices.filter(({ asOf }) => {
    const ageMs = now.getTime() - asOf.getTime()
    return ageMs <= freshMs && ageMs >= -AHEAD_MS
  })
}

/**
 * The price that no single source can have made: of three or more the median; of two the lower, if they agree; one
 * alone counts only near its own level of the week. None stands above the level by more than the limit.
 */
function believed(
  fresh: readonly SourcePrice[],
  level: bigint | null,
  { spikeBps }: Pick<GameRules, 'spikeBps'>,
): bigint | null {
  const limit = BigInt(spikeBps)
  const sorted = ascending(fresh.map((price) => price.usdMicros))
  const middle = sorted[(sorted.length - 1) >> 1]
  if (middle === undefined) return null
  if (sorted.length === 1 && (level === null || middle * BPS < level * (BPS - limit))) return null
  const highest = sorted.at(-1) ?? middle
  if (sorted.length === 2 && highest * BPS > middle * (BPS + limit)) return null
  if (level === null) return middle
  const ceiling = (level * (BPS + limit)) / BPS
  return middle < ceiling ? middle : ceiling
}

/** Of two levels the higher: the lower one could be a lie that drags the price down. One of several is not heard. */
function levelOf(fresh: readonly SourcePrice[]): bigint | null {
  const levels = fresh.flatMap(({ levelUsdMicros }) => (levelUsdMicros === null ? [] : [levelUsdMicros]))
  if (levels.length === 1 && fresh.length > 1) return null
  return ascending(levels)[levels.length >> 1] ?? null
}

const ascending = (values: readonly bigint[]): bigint[] =>
  [...values].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))

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
