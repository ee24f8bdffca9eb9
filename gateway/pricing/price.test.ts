import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { minimumInMinorUnits, toMinorUnits } from './exchange.ts'
import {
  DEFAULT_RULES,
  FILE_SOURCE,
  OPERATOR_SOURCE,
  rulesWith,
  type SourcePrice,
  shopperAmount,
  withCommission,
  worthOf,
  worthOfOverride,
} from './price.ts'

const NOW = new Date('2026-01-01T12:00:00Z')
const HOUR_MS = 3_600_000
const DOLLAR = 1_000_000n
/** The exchange rate 1, times 10^8. */
const RATE_ONE = 100_000_000n

const hoursAgo = (hours: number) => new Date(NOW.getTime() - hours * HOUR_MS)
const micros = (usd: number) => BigInt(Math.round(usd * 1_000_000))
/** Returns a price, by default unchanged for a week. */
const price = (usd: number, more: Partial<SourcePrice> = {}): SourcePrice => ({
  source: 'any',
  usdMicros: micros(usd),
  levelUsdMicros: micros(usd),
  popularity: 100,
  popularityKind: 'sales7d',
  asOf: NOW,
  earlier: null,
  ...more,
})
/** Returns a price with its weekly level. `level`: null if it is unknown. */
const withLevel = (usd: number, level: number | null) =>
  price(usd, { levelUsdMicros: level === null ? null : micros(level) })
const RULES = { ...DEFAULT_RULES.cs, commissionBps: 0 }
const judge = (...prices: SourcePrice[]) => worthOf(prices, RULES, NOW)
const priced = (usd: number) => expect.objectContaining({ kind: 'priced', usdMicros: micros(usd) })
const unavailable = (reason: string) => ({ kind: 'unavailable', reason })

describe('the worth of an item', () => {
  test('D-13 is the median of the fresh sources, or the lower of the two in the middle', () => {
    expect(judge(price(3), price(1.6), price(2))).toEqual(priced(2))
    expect(judge(price(9), price(1), price(3), price(2), price(8))).toEqual(priced(3))
    expect(judge(price(9), price(1), price(3), price(2))).toEqual(priced(2))
    expect(judge(price(2.6), price(2))).toEqual(priced(2))
  })

  test('D-13 uses prices up to six hours old', () => {
    expect(judge(price(5, { asOf: hoursAgo(6) }))).toEqual(priced(5))
    expect(judge(price(5, { asOf: new Date(hoursAgo(6).getTime() - 1) }))).toEqual(unavailable('noPrice'))
    expect(judge(price(5, { asOf: hoursAgo(-1) }))).toEqual(unavailable('noPrice'))
    expect(judge()).toEqual(unavailable('noPrice'))
  })

  test('D-13 ignores a price more than an hour old if another source has one at most an hour old', () => {
    const [hour, older] = [hoursAgo(1), new Date(hoursAgo(1).getTime() - 1)]
    expect(judge(price(5), price(4, { asOf: hour }))).toEqual(priced(4))
    expect(judge(price(5), price(4, { asOf: older }))).toEqual(priced(5))
    expect(judge(price(5, { asOf: older }), price(4, { asOf: hoursAgo(6) }))).toEqual(priced(4))
    // A clock that runs ahead does not make other prices old.
    expect(judge(price(5, { asOf: hoursAgo(-1) }), price(4, { asOf: older }))).toEqual(priced(4))
  })

  test('D-13 needs ten sales at one source, or ten listings at each of two', () => {
    const sold = (popularity: number, kind: 'sales7d' | 'sales30d' = 'sales30d') =>
      price(5, { popularity, popularityKind: kind })
    const listed = (popularity: number) => price(5, { popularity, popularityKind: 'listings' })
    expect(judge(sold(10))).toEqual(priced(5))
    expect(judge(sold(10, 'sales7d'))).toEqual(priced(5))
    expect(judge(sold(9))).toEqual(unavailable('notPopular'))
    expect(judge(sold(9), listed(10))).toEqual(unavailable('notPopular'))
    expect(judge(listed(1_000))).toEqual(unavailable('notPopular'))
    expect(judge(listed(10), listed(9))).toEqual(unavailable('notPopular'))
    expect(judge(listed(10), listed(10))).toEqual(priced(5))
    expect(judge(sold(0), listed(10), listed(10))).toEqual(priced(5))
    // The operator's own list needs no second source.
    expect(judge({ ...listed(10), source: FILE_SOURCE })).toEqual(priced(5))
  })

  test('D-13 counts a source’s last data as proof of popularity for 72 hours, even if the source is silent', () => {
    const popular = price(9, { popularity: 10, popularityKind: 'sales30d', asOf: hoursAgo(72) })
    const listed = price(5, { popularity: 3, popularityKind: 'listings' })
    expect(judge(listed, popular)).toEqual(priced(5))
    expect(judge(listed, { ...popular, asOf: new Date(hoursAgo(72).getTime() - 1) })).toEqual(
      unavailable('notPopular'),
    )
    expect(judge(popular)).toEqual(unavailable('noPrice'))
  })

  test('A-087 must be 0.11 dollars or more after commission', () => {
    expect(judge(price(0.1))).toEqual(unavailable('tooCheap'))
    expect(judge(price(0.109))).toEqual(unavailable('tooCheap'))
    expect(judge(price(0.11))).toEqual(priced(0.11))
    const halfCommission = { ...RULES, commissionBps: 5_000 }
    expect(worthOf([price(0.21)], halfCommission, NOW)).toEqual(unavailable('tooCheap'))
    expect(worthOf([price(0.22)], halfCommission, NOW)).toEqual(priced(0.22))
  })
})

test('the worth of an override needs no source, and must be 0.11 dollars or more after commission', () => {
  const halfCommission = { ...RULES, commissionBps: 5_000 }
  expect(worthOfOverride(micros(0.21), halfCommission)).toEqual(unavailable('tooCheap'))
  expect(worthOfOverride(micros(0.22), halfCommission)).toEqual({
    kind: 'priced',
    usdMicros: micros(0.22),
    levelUsdMicros: null,
  })
})

test('quotes name the operator’s price list "file", and overrides "operator"', () => {
  expect([FILE_SOURCE, OPERATOR_SOURCE]).toEqual(['file', 'operator'])
})

test('a store’s own commission replaces the commission of every game, and nothing else', () => {
  const rules = rulesWith((game) => ({ minPopularity: game.length }))
  const storeRules = withCommission(rules, 700)
  for (const game of ['cs', 'dota', 'rust', 'tf'] as const) {
    expect(storeRules[game]).toEqual({ ...rules[game], commissionBps: 700 })
  }
  expect(withCommission(rules, null)).toEqual(rules)
})

/** Pumped: somebody raised the price on purpose, to be paid more than the item is worth. */
describe('a pumped price', () => {
  test('is paid up to the limit above the weekly level, even if all sources have it', () => {
    expect(judge(withLevel(13, 10))).toEqual(priced(13))
    expect(judge(withLevel(1_000, 10))).toEqual(priced(13))
    expect(judge(withLevel(1_000, 10), withLevel(1_000, 10), withLevel(1_000, 10))).toEqual(priced(13))
    expect(judge(withLevel(13, 10))).toMatchObject({ levelUsdMicros: micros(10) })
  })

  test('is not accepted from a single source for an item without a weekly level', () => {
    expect(judge(withLevel(5, null))).toEqual(unavailable('noPrice'))
    expect(judge(withLevel(5, null), withLevel(6.5, null))).toEqual(priced(5))
    expect(judge(withLevel(5, null), withLevel(6.51, null))).toEqual(unavailable('noPrice'))
    expect(judge(withLevel(5, null), withLevel(900, null), withLevel(6, null))).toEqual(priced(6))
  })

  test('is not accepted if two sources differ and no third source agrees with the cheaper one', () => {
    expect(judge(withLevel(1, null), withLevel(5, null))).toEqual(unavailable('noPrice'))
    for (const lie of [1.31, 3, 5, 900]) {
      expect(judge(withLevel(1, null), withLevel(5, null), withLevel(lie, null))).toEqual(
        unavailable('noPrice'),
      )
    }
    expect(judge(withLevel(1, null), withLevel(5, null), withLevel(1.3, null))).toEqual(priced(1.3))
  })
})

describe('other rules of a price', () => {
  test('a price far below the weekly level is accepted from two sources, but not from a single one', () => {
    expect(judge(withLevel(7, 10))).toEqual(priced(7))
    expect(judge(withLevel(6.99, 10))).toEqual(unavailable('noPrice'))
    expect(judge(withLevel(4, 10), withLevel(5, 10))).toEqual(priced(4))
  })

  test('D-13 a source’s clock can be up to five minutes ahead', () => {
    const ahead = (ms: number) => price(5, { asOf: new Date(NOW.getTime() + ms) })
    expect(judge(ahead(300_000))).toEqual(priced(5))
    expect(judge(ahead(300_001))).toEqual(unavailable('noPrice'))
  })

  test('a level from only one of several sources caps the price; if it is far below the prices, there is no price, and if far above, it has no effect', () => {
    expect(judge(withLevel(20, 12), withLevel(20, null), withLevel(20, null))).toEqual(priced(15.6))
    expect(judge(withLevel(20, 10), withLevel(20, null), withLevel(20, null))).toEqual(unavailable('noPrice'))
    expect(judge(withLevel(10, 10), withLevel(20, null), withLevel(20, null))).toEqual(unavailable('noPrice'))
    expect(judge(withLevel(20, 900), withLevel(20, null), withLevel(20, null))).toEqual(priced(20))
    // The ceiling of 19.50 is near the median, but too far below 26, the next higher price.
    expect(judge(withLevel(20, 15), withLevel(20, null), withLevel(26, null))).toEqual(unavailable('noPrice'))
    expect(judge(withLevel(20, 16), withLevel(20, null), withLevel(27.04, null))).toEqual(priced(20))
    expect(judge(withLevel(14, 10), withLevel(14, null), withLevel(16.9, null))).toEqual(priced(13))
    expect(judge(withLevel(14, 10), withLevel(14, null), withLevel(16.91, null))).toEqual(
      unavailable('noPrice'),
    )
    expect(judge(withLevel(13.5, 10), withLevel(13.5, null))).toEqual(priced(13))
  })

  test('the lower of two levels caps the price if both agree or the lower is near the prices; of three, the median does', () => {
    expect(judge(withLevel(20, 10), withLevel(20, 13), withLevel(20, null))).toEqual(priced(13))
    expect(judge(withLevel(20, 10), withLevel(20, 13.01), withLevel(20, null))).toEqual(
      unavailable('noPrice'),
    )
    expect(judge(withLevel(20, 12), withLevel(20, 900), withLevel(20, null))).toEqual(priced(15.6))
    expect(judge(withLevel(20, 12), withLevel(20, 10), withLevel(20, 11))).toEqual(priced(14.3))
    expect(judge(withLevel(20, 1), withLevel(20, 10), withLevel(20, 900))).toEqual(priced(13))
  })

  test('the rules of a game come from the operator’s settings for it, and otherwise from the defaults', () => {
    const rules = rulesWith((game) => (game === 'rust' ? { commissionBps: 100 } : {}))
    expect(rules).toEqual({ ...DEFAULT_RULES, rust: { ...DEFAULT_RULES.rust, commissionBps: 100 } })
    const rulesPerGame = rulesWith((game) => ({ minPopularity: game.length }))
    expect(
      [rulesPerGame.cs, rulesPerGame.dota, rulesPerGame.rust, rulesPerGame.tf].map(
        ({ minPopularity }) => minPopularity,
      ),
    ).toEqual([2, 4, 4, 2])
    expect(DEFAULT_RULES.dota).toEqual({
      commissionBps: 2_500,
      freshMs: 6 * HOUR_MS,
      supersededMs: HOUR_MS,
      fallBps: 1_000,
      minPopularity: 10,
      mustExceedUsdCents: 10n,
      spikeBps: 3_000,
    })
  })
})

/**
 * Amounts of at least a tenth of a cent, because limits are inexact for smaller ones. Half of them are near each
 * other.
 */
const amount = fc.oneof(
  fc.bigInt({ min: 1_000n, max: 10_000_000n * DOLLAR }),
  fc.bigInt({ min: 900_000n, max: 1_400_000n }),
)
/** A source, honest or not, with or without a level. */
const source = fc
  .record({ usdMicros: amount, levelUsdMicros: fc.option(amount) })
  .map((fields) => ({ ...price(1), ...fields }))
const popularityKind = fc.constantFrom('sales7d' as const, 'listings' as const)
/** Around the required popularity of 10. */
const popularity = fc.integer({ min: 7, max: 13 })
/** An amount of a lying source. Half of these amounts are near those of `honestSources`: the last range, and half of `amount`. */
const lyingAmount = fc.oneof(fc.constantFrom(0n, 1n), amount, fc.bigInt({ min: 500_000n, max: 2_200_000n }))
const lyingRow = fc
  .record({
    usdMicros: lyingAmount,
    levelUsdMicros: fc.option(lyingAmount),
    popularity: fc.oneof(popularity, fc.nat()),
    popularityKind,
    // Mostly fresh; otherwise too old or in the future.
    asOf: fc.constantFrom(NOW, NOW, NOW, hoursAgo(7), hoursAgo(-1)),
  })
  .map((fields) => ({ ...price(1), ...fields }))
const isFresh = ({ asOf }: SourcePrice) => asOf === NOW
/** Sources that agree within the limit on the price, and on the weekly level if they know it. */
const honestSources = fc
  .tuple(fc.bigInt({ min: 500_000n, max: 1_500_000n }), fc.bigInt({ min: 500_000n, max: 1_500_000n }))
  .chain(([lowest, level]) =>
    fc.array(
      fc
        .record({
          usdMicros: fc.bigInt({ min: lowest, max: (lowest * 13n) / 10n }),
          levelUsdMicros: fc.option(fc.bigInt({ min: level, max: (level * 13n) / 10n }), { freq: 2 }),
          popularity,
          popularityKind,
        })
        .map((fields) => ({ ...price(1), ...fields })),
      { minLength: 3, maxLength: 6 },
    ),
  )
const NO_MINIMUM = { ...RULES, mustExceedUsdCents: -1n }
const ascending = (values: bigint[]) => [...values].sort((a, b) => (a < b ? -1 : 1))
const raisedByLimit = (value: bigint) => (value * (10_000n + BigInt(RULES.spikeBps))) / 10_000n
/** Limits are rounded down, so amounts at a limit can differ by this. */
const ROUNDING = 2n

describe('properties of prices', () => {
  test('D-13 one manipulated source cannot move a price beyond the others’ prices by more than the limit', () => {
    fc.assert(
      fc.property(fc.array(source, { minLength: 1, maxLength: 6 }), source, (honest, lie) => {
        const worth = worthOf([...honest, lie], NO_MINIMUM, NOW)
        if (worth.kind !== 'priced') return
        const honestPrices = honest.map(({ usdMicros }) => usdMicros)
        const levels = honest.flatMap(({ levelUsdMicros }) => levelUsdMicros ?? [])
        expect(worth.usdMicros).toBeLessThanOrEqual(ascending(honestPrices).at(-1) ?? 0n)
        const floor = ascending([...honestPrices, ...levels.map(raisedByLimit)])[0] ?? 0n
        expect(raisedByLimit(worth.usdMicros) + ROUNDING).toBeGreaterThanOrEqual(floor)
      }),
      { numRuns: 5_000 },
    )
  })

  test('D-13 a false price moves the price of three or more agreeing sources by at most the limit', () => {
    fc.assert(
      fc.property(honestSources, lyingRow, fc.option(fc.nat()), (honest, lie, replaced) => {
        const rest = replaced === null ? honest : honest.filter((_, at) => at !== replaced % honest.length)
        const before = worthOf(honest, NO_MINIMUM, NOW)
        const after = worthOf([...rest, lie], NO_MINIMUM, NOW)
        if (after.kind !== 'priced') return
        // At least two agreeing sources support the new price.
        expect(
          rest.filter(({ usdMicros }) => raisedByLimit(usdMicros) + ROUNDING >= after.usdMicros).length,
        ).toBeGreaterThan(1)
        if (before.kind !== 'priced') return
        expect(after.usdMicros).toBeLessThanOrEqual(raisedByLimit(before.usdMicros) + ROUNDING)
        expect(raisedByLimit(after.usdMicros) + ROUNDING).toBeGreaterThanOrEqual(before.usdMicros)
      }),
      { numRuns: 5_000 },
    )
  })

  test('D-13 a false price never raises the price to more than the limit above either of two other sources', () => {
    fc.assert(
      fc.property(source, source, lyingRow, (first, second, lie) => {
        const worth = worthOf([first, second, lie], NO_MINIMUM, NOW)
        if (worth.kind !== 'priced' || !isFresh(lie)) return
        for (const { usdMicros } of [first, second]) {
          expect(worth.usdMicros).toBeLessThanOrEqual(raisedByLimit(usdMicros))
        }
      }),
      { numRuns: 5_000 },
    )
  })

  test('a single source moves a price at most the limit away from the weekly level', () => {
    fc.assert(
      fc.property(amount, amount, (usdMicros, levelUsdMicros) => {
        const worth = worthOf([{ ...price(1), usdMicros, levelUsdMicros }], NO_MINIMUM, NOW)
        if (worth.kind !== 'priced') return
        expect(worth.usdMicros).toBeLessThanOrEqual(raisedByLimit(levelUsdMicros))
        expect(worth.usdMicros * 10n).toBeGreaterThanOrEqual(levelUsdMicros * 7n)
      }),
    )
  })

  test('all sources pumped together raise a price to at most the limit above the weekly level', () => {
    fc.assert(
      fc.property(fc.array(amount, { minLength: 1, maxLength: 5 }), amount, (pumped, levelUsdMicros) => {
        const prices = pumped.map((usdMicros) => ({ ...price(1), usdMicros, levelUsdMicros }))
        const worth = worthOf(prices, NO_MINIMUM, NOW)
        if (worth.kind === 'priced')
          expect(worth.usdMicros).toBeLessThanOrEqual(raisedByLimit(levelUsdMicros))
      }),
    )
  })

  test('D-5 the credit is rounded down by less than one minor unit, never up', () => {
    const rates = fc.bigInt({ min: RATE_ONE / 2n, max: RATE_ONE * 50n })
    fc.assert(
      fc.property(amount, rates, fc.integer({ min: 0, max: 9_000 }), (usdMicros, rate, commission) => {
        const exact = usdMicros * rate * BigInt(10_000 - commission)
        const unit = RATE_ONE * 10_000n * 10_000n
        const credited = shopperAmount(usdMicros, rate, commission)
        expect(credited * unit).toBeLessThanOrEqual(exact)
        expect((credited + 1n) * unit).toBeGreaterThan(exact)
        expect(credited).toBeLessThanOrEqual(toMinorUnits(usdMicros, rate))
      }),
    )
  })

  test('D-13 a minimum is rounded up, so an accepted trade is never worth less', () => {
    const rates = fc.bigInt({ min: RATE_ONE / 2n, max: RATE_ONE * 50n })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100_000 }), rates, (cents, rate) => {
        const minimum = minimumInMinorUnits(cents, rate)
        expect(minimum * RATE_ONE).toBeGreaterThanOrEqual(BigInt(cents) * rate)
        expect((minimum - 1n) * RATE_ONE).toBeLessThan(BigInt(cents) * rate)
      }),
    )
  })
})
