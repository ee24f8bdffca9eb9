/** Sources of prices that lie, alone or in pairs: family 52. */
import { DEFAULT_RULES, type SourcePrice, worthOf } from '../../../gateway/pricing/price.ts'
import { type Case, type Family, family } from '../attack.ts'
import { never } from './checks.ts'

const PRICE = 'gateway/pricing/price.ts'
/** The least worth is asked for twice: here, and of an operator's own price. */
const POPULAR_AND_WORTH = `reason: 'notPopular' }
  const seen = shopperAmount(usdMicros, USD_PER_USD, rules.commissionBps)
  if (seen <= rules.minWorthUsdCents)`
const NOW = new Date('2026-01-01T12:00:00Z')
const HOUR_MS = 3_600_000
const TRUE_MICROS = 10_000_000n
/** The most that a lie may bring: the highest price that the item's own week allows. */
const MOST_MICROS = 13_000_000n
const RULES = { ...DEFAULT_RULES.cs, commissionBps: 0 }

const word = (more: Partial<SourcePrice> = {}): SourcePrice => ({
  source: 'somebody',
  usdMicros: TRUE_MICROS,
  levelUsdMicros: TRUE_MICROS,
  popularity: 100,
  popularityKind: 'sales30d',
  asOf: NOW,
  earlier: null,
  ...more,
})
const times = (factor: number): bigint => BigInt(Math.round(Number(TRUE_MICROS) * factor))
const ago = (hours: number): Date => new Date(NOW.getTime() - hours * HOUR_MS)

function paidTooMuch(words: readonly SourcePrice[], most = MOST_MICROS): string | undefined {
  const worth = worthOf(words, RULES, NOW)
  return never(
    worth.kind === 'priced' && worth.usdMicros > most,
    `${worth.kind === 'priced' ? worth.usdMicros : 0n} is believed`,
  )
}
const counts = (words: readonly SourcePrice[]): string | undefined =>
  never(worthOf(words, RULES, NOW).kind === 'priced', 'the item counts')

type Line =
  | 'not far above its week'
  | 'one alone needs a week'
  | 'the lowest two agree'
  | 'no old words'
  | 'no words of tomorrow'
  | 'falls reach older words'
  | 'what sells'
  | 'worth the trouble'

const PUMPS = [1.31, 1.5, 2, 3, 5, 10, 100, 10_000]
const by = (line: Line, what: string, attack: () => string | undefined): Case<Line> => ({
  what,
  by: line,
  attack,
})

export const prices: Family = family<Line>({
  number: 52,
  name: 'sources of prices that lie',
  kind: 'pure',
  defences: {
    'not far above its week': {
      at: `${PRICE} believed`,
      off: [
        {
          file: PRICE,
          from: 'if (middle <= ceiling) return middle',
          to: 'if (middle <= ceiling || true) return middle',
        },
      ],
    },
    'one alone needs a week': {
      at: `${PRICE} believed`,
      off: [
        {
          file: PRICE,
          from: 'if (sorted.length === 1 && (level === null || isFarBelow(middle, level, rules))) return null',
          to: '',
        },
      ],
    },
    'the lowest two agree': {
      at: `${PRICE} believed`,
      off: [
        {
          file: PRICE,
          from: 'if (sorted.length <= 3 && !agree(sorted.slice(0, 2), rules)) return null',
          to: '',
        },
      ],
    },
    'no old words': {
      at: `${PRICE} within`,
      off: [
        {
          file: PRICE,
          from: 'return ageMs <= mostMs && ageMs >= -AHEAD_MS',
          to: 'return ageMs >= -AHEAD_MS',
        },
      ],
    },
    'no words of tomorrow': {
      at: `${PRICE} within`,
      off: [
        { file: PRICE, from: 'return ageMs <= mostMs && ageMs >= -AHEAD_MS', to: 'return ageMs <= mostMs' },
      ],
    },
    'falls reach older words': {
      at: `${PRICE} withFalls`,
      off: [
        {
          file: PRICE,
          from: 'if (falls.length === 0) return undefined',
          to: 'if (falls.length >= 0) return undefined',
        },
      ],
    },
    'what sells': {
      at: `${PRICE} isPopular`,
      off: [
        { file: PRICE, from: 'return enough.length > 1 || enough.some(isEnoughAlone)', to: 'return true' },
      ],
    },
    'worth the trouble': {
      at: `${PRICE} worthOf`,
      off: [
        {
          file: PRICE,
          from: POPULAR_AND_WORTH,
          to: POPULAR_AND_WORTH.replace('seen <= rules.minWorthUsdCents', 'seen < 0n'),
        },
      ],
    },
  },
  honest: () =>
    never(
      worthOf([word(), word({ source: 'other' })], RULES, NOW).kind !== 'priced',
      'an honest price is refused',
    ),
  cases: () => [
    ...PUMPS.flatMap((factor) => [
      by('not far above its week', `one source, ${factor} times its week`, () =>
        paidTooMuch([word({ usdMicros: times(factor) })]),
      ),
      by('not far above its week', `two sources, ${factor} times their week`, () =>
        paidTooMuch([
          word({ usdMicros: times(factor) }),
          word({ source: 'other', usdMicros: times(factor) }),
        ]),
      ),
      by('not far above its week', `three sources, ${factor} times their week`, () =>
        paidTooMuch(['a', 'b', 'c'].map((source) => word({ source, usdMicros: times(factor) }))),
      ),
      by('one alone needs a week', `one source without a week, ${factor} times the worth`, () =>
        paidTooMuch([word({ usdMicros: times(factor), levelUsdMicros: null })]),
      ),
      by('the lowest two agree', `two of three lie, ${factor} times the worth`, () =>
        paidTooMuch([
          word({ levelUsdMicros: null }),
          word({ source: 'b', usdMicros: times(factor), levelUsdMicros: null }),
          word({ source: 'c', usdMicros: times(factor), levelUsdMicros: null }),
        ]),
      ),
    ]),
    ...[6.1, 7, 12, 24, 48, 24 * 30].map((hours) =>
      by('no old words', `a word of ${hours} hours ago`, () => counts([word({ asOf: ago(hours) })])),
    ),
    ...[0.1, 1, 6, 24, 24 * 365].map((hours) =>
      by('no words of tomorrow', `a word of ${hours} hours ahead`, () =>
        counts([word({ asOf: ago(-hours) })]),
      ),
    ),
    ...[0.89, 0.87, 0.85, 0.83, 0.81, 0.79].map((left) =>
      by('falls reach older words', `old words of others after a fall to ${left}`, () =>
        paidTooMuch(
          [
            word({ usdMicros: times(left), earlier: { usdMicros: TRUE_MICROS, asOf: ago(2) } }),
            word({ source: 'b', asOf: ago(0.5) }),
            word({ source: 'c', asOf: ago(0.5) }),
          ],
          times(left) + times(left) / 10n,
        ),
      ),
    ),
    ...[0, 1, 5, 9].flatMap((popularity) =>
      (['sales7d', 'sales30d', 'listings'] as const).map((popularityKind) =>
        by('what sells', `${popularity} ${popularityKind}`, () =>
          counts([word({ popularity, popularityKind })]),
        ),
      ),
    ),
    ...[10, 100, 100_000].map((popularity) =>
      by('what sells', `${popularity} listings at one source`, () =>
        counts([word({ popularity, popularityKind: 'listings' })]),
      ),
    ),
    ...[1n, 9_999n, 50_000n, 99_999n, 100_000n, 109_999n].map((usdMicros) =>
      by('worth the trouble', `an item worth ${usdMicros} millionths`, () =>
        counts([word({ usdMicros, levelUsdMicros: usdMicros })]),
      ),
    ),
  ],
})
