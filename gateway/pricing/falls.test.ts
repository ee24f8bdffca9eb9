/** How a fall at one source affects the older prices of the others. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DEFAULT_RULES, type SourcePrice, worthOf } from './price.ts'

const NOW = new Date('2026-01-01T12:00:00Z')
const minutesAgo = (minutes: number) => new Date(NOW.getTime() - minutes * 60_000)
const micros = (usd: number) => BigInt(Math.round(usd * 1_000_000))
const price = (usd: number, more: Partial<SourcePrice> = {}): SourcePrice => ({
  source: 'any',
  usdMicros: micros(usd),
  levelUsdMicros: micros(usd),
  popularity: 100,
  popularityKind: 'sales30d',
  asOf: NOW,
  earlier: null,
  ...more,
})
const RULES = { ...DEFAULT_RULES.cs, commissionBps: 0 }
const judge = (...prices: SourcePrice[]) => worthOf(prices, RULES, NOW)
const priced = (usd: number) => expect.objectContaining({ kind: 'priced', usdMicros: micros(usd) })
const unavailable = (reason: string) => ({ kind: 'unavailable', reason })

describe('D-13 a fall', () => {
  /** A source that had the price `from` two hours ago, and set the price `to` `minutes` ago. Prices in dollars. */
  const changedPrice = (from: number, to: number, minutes = 0) =>
    price(to, {
      levelUsdMicros: micros(10),
      asOf: minutesAgo(minutes),
      earlier: { usdMicros: micros(from), asOf: minutesAgo(120) },
    })
  /** A price that its source set `minutes` ago, without an earlier one. */
  const steadyPrice = (usd: number, minutes = 30) =>
    price(usd, { levelUsdMicros: micros(10), asOf: minutesAgo(minutes) })

  test('applies to the older prices of other sources', () => {
    expect(judge(changedPrice(10, 8), steadyPrice(10), steadyPrice(10))).toEqual(priced(8))
    expect(judge(changedPrice(12, 9.6), steadyPrice(10), steadyPrice(10))).toEqual(priced(8))
    expect(judge(changedPrice(10, 8), steadyPrice(10))).toEqual(priced(8))
    // The larger of two falls counts, and a price that has already fallen does not fall again.
    expect(judge(changedPrice(10, 8.5), changedPrice(10, 8), steadyPrice(10))).toEqual(priced(8))
    expect(judge(changedPrice(10, 8), changedPrice(10, 8.5, 30), steadyPrice(10))).toEqual(priced(8))
  })

  test('of a tenth or less is ignored, and a larger fall does not lower equally new prices', () => {
    expect(judge(changedPrice(10, 9), steadyPrice(10), steadyPrice(10))).toEqual(priced(10))
    expect(judge(changedPrice(10, 8.99), steadyPrice(10), steadyPrice(10))).toEqual(priced(8.99))
    expect(judge(changedPrice(10, 8), steadyPrice(10, 0), steadyPrice(10, 0))).toEqual(priced(10))
    expect(judge(price(11), steadyPrice(10), steadyPrice(10))).toEqual(priced(10))
  })

  test('does not count if a fresher price of another source has not fallen', () => {
    expect(judge(changedPrice(10, 8, 20), changedPrice(10, 10, 10), steadyPrice(10))).toEqual(priced(10))
    expect(judge(changedPrice(10, 8, 20), changedPrice(10, 10, 40), steadyPrice(10))).toEqual(priced(8))
    expect(judge(changedPrice(10, 8, 20), changedPrice(10, 10, 20), steadyPrice(10))).toEqual(priced(8))
    // A source without an earlier price cannot contradict it.
    expect(judge(changedPrice(10, 8, 20), steadyPrice(10, 10), steadyPrice(10))).toEqual(priced(8))
  })

  test('is measured against a price from 1 to 24 hours ago', () => {
    const fallenFrom = (minutesBefore: number) => ({
      ...changedPrice(10, 8),
      earlier: { usdMicros: micros(10), asOf: minutesAgo(minutesBefore) },
    })
    expect(judge(fallenFrom(60), steadyPrice(10), steadyPrice(10))).toEqual(priced(8))
    expect(judge(fallenFrom(59), steadyPrice(10), steadyPrice(10))).toEqual(priced(10))
    expect(judge(fallenFrom(24 * 60), steadyPrice(10), steadyPrice(10))).toEqual(priced(8))
    expect(judge(fallenFrom(24 * 60 + 1), steadyPrice(10), steadyPrice(10))).toEqual(priced(10))
  })

  test('beyond the spike limit removes the price until another source confirms it', () => {
    expect(judge(changedPrice(10, 7.7), steadyPrice(10), steadyPrice(10))).toEqual(priced(7.7))
    expect(judge(changedPrice(10, 7.6), steadyPrice(10), steadyPrice(10))).toEqual(unavailable('noPrice'))
    // Among four prices the two lowest may differ, so only the fall removes the price.
    const threeSteady = [steadyPrice(10), steadyPrice(10), steadyPrice(10)]
    expect(judge(changedPrice(10, 7.7), ...threeSteady)).toEqual(priced(7.7))
    expect(judge(changedPrice(10, 7.6), ...threeSteady)).toEqual(unavailable('noPrice'))
    // The limit is 7.692308: 30 % more than that is 10. A price may be one millionth below the limit.
    expect(judge(changedPrice(10, 7.692307), ...threeSteady)).toEqual(priced(7.692307))
    expect(judge(changedPrice(10, 7.692306), ...threeSteady)).toEqual(unavailable('noPrice'))
    // Two prices that differed before a fall do not agree because of it.
    expect(judge(changedPrice(10, 8), steadyPrice(11))).toEqual(unavailable('noPrice'))
    expect(judge(changedPrice(10, 5), changedPrice(10, 5.5), price(10))).toEqual(priced(5.5))
  })

  test('of a fifth is ignored if the rules tolerate 30 %', () => {
    const tolerant = { ...RULES, fallBps: 3_000 }
    expect(worthOf([changedPrice(10, 8), steadyPrice(10), steadyPrice(10)], tolerant, NOW)).toEqual(
      priced(10),
    )
  })

  test('either lowers a price by at most the spike limit, or removes it', () => {
    const amount = fc.oneof(
      fc.bigInt({ min: 1_000n, max: 10_000_000_000_000n }),
      fc.bigInt({ min: 900_000n, max: 1_400_000n }),
    )
    const NO_MINIMUM = { ...RULES, mustExceedUsdCents: -1n }
    const raisedByLimit = (value: bigint) => (value * (10_000n + BigInt(RULES.spikeBps))) / 10_000n
    /** A lowered price and a raised one are each rounded down. */
    const ROUNDING = 2n
    const minute = fc.integer({ min: 0, max: 59 })
    const sources = fc.array(
      fc
        .tuple(amount, fc.option(amount), minute, fc.option(amount))
        .map(([usdMicros, levelUsdMicros, minutes, before]) => ({
          ...price(1),
          usdMicros,
          levelUsdMicros,
          asOf: minutesAgo(minutes),
          earlier: before === null ? null : { usdMicros: before, asOf: minutesAgo(180) },
        })),
      { minLength: 1, maxLength: 6 },
    )
    fc.assert(
      fc.property(sources, (prices) => {
        const withoutFalls = prices.map((known) => ({ ...known, earlier: null }))
        const [before, after] = [worthOf(withoutFalls, NO_MINIMUM, NOW), worthOf(prices, NO_MINIMUM, NOW)]
        if (after.kind !== 'priced') return
        if (before.kind !== 'priced') return expect.unreachable('a fall made a price')
        expect(after.usdMicros).toBeLessThanOrEqual(before.usdMicros)
        expect(raisedByLimit(after.usdMicros) + ROUNDING).toBeGreaterThanOrEqual(before.usdMicros)
      }),
      { numRuns: 1_000 },
    )
  })
})
