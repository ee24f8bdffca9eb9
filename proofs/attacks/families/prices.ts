/** Price sources that lie, alone or together: family 52. */
import { DEFAULT_RULES, type SourcePrice, worthOf } from '../../../gateway/pricing/price.ts'
import { type Case, type Family, family } from '../attack.ts'
import { problemIf } from './checks.ts'

const PRICE = 'gateway/pricing/price.ts'
/** The line to change, with the lines before it, because an identical line elsewhere checks an operator's own price. */
const POPULAR_AND_WORTH = `reason: 'notPopular' }
  const creditUsdCents = shopperAmount(usdMicros, USD_PER_USD, rules.commissionBps)
  if (creditUsdCents <= rules.mustExceedUsdCents)`
const NOW = new Date('2026-01-01T12:00:00Z')
const HOUR_MS = 3_600_000
const FRESH_HOURS = 6
const TRUE_MICROS = 10_000_000n
/** The most that a lie may achieve: 130% of the item's weekly level. */
const MOST_MICROS = 13_000_000n
const RULES = { ...DEFAULT_RULES.cs, commissionBps: 0 }

const price = (more: Partial<SourcePrice> = {}): SourcePrice => ({
  source: 'somebody',
  usdMicros: TRUE_MICROS,
  levelUsdMicros: TRUE_MICROS,
  popularity: 100,
  popularityKind: 'sales30d',
  asOf: NOW,
  earlier: null,
  ...more,
})
const truePriceTimes = (factor: number): bigint => BigInt(Math.round(Number(TRUE_MICROS) * factor))
const hoursAgo = (hours: number): Date => new Date(NOW.getTime() - hours * HOUR_MS)

/** Returns undefined unless the till accepts the item at more than `most` millionths of a dollar. */
function mustNotExceed(sources: readonly SourcePrice[], most = MOST_MICROS): string | undefined {
  const worth = worthOf(sources, RULES, NOW)
  return problemIf(
    worth.kind === 'priced' && worth.usdMicros > most,
    `${worth.kind === 'priced' ? worth.usdMicros : 0n} is accepted`,
  )
}
const mustNotCount = (sources: readonly SourcePrice[]): string | undefined =>
  problemIf(worthOf(sources, RULES, NOW).kind === 'priced', 'the item is accepted')

type Defence =
  | 'a limit above the weekly level'
  | 'a weekly level for a single source'
  | 'the lowest two must agree'
  | 'no old prices'
  | 'no future prices'
  | 'a fall lowers older prices'
  | 'enough sales'
  | 'a minimum value'

/** The factors by which sources exaggerate, from just above the limit of 1.3. */
const PUMPS = [1.31, 1.5, 2, 3, 5, 10, 100, 10_000]
const caseOf = (stoppedBy: Defence, what: string, attack: () => string | undefined): Case<Defence> => ({
  what,
  stoppedBy,
  attack,
})

export const prices: Family = family<Defence>({
  number: 52,
  name: 'price sources that lie',
  kind: 'parts',
  defences: {
    'a limit above the weekly level': {
      at: `${PRICE} trustedPrice`,
      off: [
        {
          file: PRICE,
          from: 'if (middle <= ceiling) return middle',
          to: 'if (middle <= ceiling || true) return middle',
        },
      ],
    },
    'a weekly level for a single source': {
      at: `${PRICE} trustedPrice`,
      off: [
        {
          file: PRICE,
          from: 'if (sorted.length === 1 && (level === null || isFarBelow(middle, level, rules))) return null',
          to: '',
        },
      ],
    },
    'the lowest two must agree': {
      at: `${PRICE} trustedPrice`,
      off: [
        {
          file: PRICE,
          from: 'if (sorted.length <= 3 && !agree(sorted.slice(0, 2), rules)) return null',
          to: '',
        },
      ],
    },
    'no old prices': {
      at: `${PRICE} within`,
      off: [
        {
          file: PRICE,
          from: 'return ageMs <= maxAgeMs && ageMs >= -AHEAD_MS',
          to: 'return ageMs >= -AHEAD_MS',
        },
      ],
    },
    'no future prices': {
      at: `${PRICE} within`,
      off: [
        {
          file: PRICE,
          from: 'return ageMs <= maxAgeMs && ageMs >= -AHEAD_MS',
          to: 'return ageMs <= maxAgeMs',
        },
      ],
    },
    'a fall lowers older prices': {
      at: `${PRICE} withFalls`,
      off: [
        {
          file: PRICE,
          from: 'if (falls.length === 0) return undefined',
          to: 'if (falls.length >= 0) return undefined',
        },
      ],
    },
    'enough sales': {
      at: `${PRICE} isPopular`,
      off: [
        { file: PRICE, from: 'return enough.length > 1 || enough.some(isEnoughAlone)', to: 'return true' },
      ],
    },
    'a minimum value': {
      at: `${PRICE} worthOf`,
      off: [
        {
          file: PRICE,
          from: POPULAR_AND_WORTH,
          to: POPULAR_AND_WORTH.replace('creditUsdCents <= rules.mustExceedUsdCents', 'creditUsdCents < 0n'),
        },
      ],
    },
  },
  honest: () =>
    problemIf(
      worthOf([price(), price({ source: 'other' })], RULES, NOW).kind !== 'priced',
      'an honest price is refused',
    ),
  cases: () => [
    ...PUMPS.flatMap((factor) => [
      caseOf('a limit above the weekly level', `one source, ${factor} times its weekly level`, () =>
        mustNotExceed([price({ usdMicros: truePriceTimes(factor) })]),
      ),
      caseOf('a limit above the weekly level', `two sources, ${factor} times their weekly level`, () =>
        mustNotExceed([
          price({ usdMicros: truePriceTimes(factor) }),
          price({ source: 'other', usdMicros: truePriceTimes(factor) }),
        ]),
      ),
      caseOf('a limit above the weekly level', `three sources, ${factor} times their weekly level`, () =>
        mustNotExceed(['a', 'b', 'c'].map((source) => price({ source, usdMicros: truePriceTimes(factor) }))),
      ),
      caseOf(
        'a weekly level for a single source',
        `one source without a weekly level, ${factor} times the value`,
        () => mustNotExceed([price({ usdMicros: truePriceTimes(factor), levelUsdMicros: null })]),
      ),
      caseOf('the lowest two must agree', `two of three lie, ${factor} times the value`, () =>
        mustNotExceed([
          price({ levelUsdMicros: null }),
          price({ source: 'b', usdMicros: truePriceTimes(factor), levelUsdMicros: null }),
          price({ source: 'c', usdMicros: truePriceTimes(factor), levelUsdMicros: null }),
        ]),
      ),
    ]),
    ...[FRESH_HOURS + 0.1, 7, 12, 24, 48, 24 * 30].map((hours) =>
      caseOf('no old prices', `a price from ${hours} hours ago`, () =>
        mustNotCount([price({ asOf: hoursAgo(hours) })]),
      ),
    ),
    ...[0.1, 1, 6, 24, 24 * 365].map((hours) =>
      caseOf('no future prices', `a price from ${hours} hours in the future`, () =>
        mustNotCount([price({ asOf: hoursAgo(-hours) })]),
      ),
    ),
    ...[0.89, 0.87, 0.85, 0.83, 0.81, 0.79].map((fallenTo) =>
      caseOf('a fall lowers older prices', `older prices of others after a fall to ${fallenTo}`, () =>
        mustNotExceed(
          [
            price({
              usdMicros: truePriceTimes(fallenTo),
              earlier: { usdMicros: TRUE_MICROS, asOf: hoursAgo(2) },
            }),
            price({ source: 'b', asOf: hoursAgo(0.5) }),
            price({ source: 'c', asOf: hoursAgo(0.5) }),
          ],
          truePriceTimes(fallenTo) + truePriceTimes(fallenTo) / 10n,
        ),
      ),
    ),
    ...[0, 1, 5, 9].flatMap((popularity) =>
      (['sales7d', 'sales30d', 'listings'] as const).map((popularityKind) =>
        caseOf('enough sales', `${popularity} ${popularityKind}`, () =>
          mustNotCount([price({ popularity, popularityKind })]),
        ),
      ),
    ),
    ...[10, 100, 100_000].map((popularity) =>
      caseOf('enough sales', `${popularity} listings at one source`, () =>
        mustNotCount([price({ popularity, popularityKind: 'listings' })]),
      ),
    ),
    ...[1n, 9_999n, 50_000n, 99_999n, 100_000n, 109_999n].map((usdMicros) =>
      caseOf('a minimum value', `an item worth ${usdMicros} millionths of a dollar`, () =>
        mustNotCount([price({ usdMicros, levelUsdMicros: usdMicros })]),
      ),
    ),
  ],
})
