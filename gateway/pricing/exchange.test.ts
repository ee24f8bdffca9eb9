import { describe, expect, test } from 'vitest'
import { CURRENCY_EXPONENT } from '../../contract/money.ts'
import { crossRate, isContradicted, readRate, toMinorUnits } from './exchange.ts'

const NOW = new Date('2026-01-01T12:00:00Z')
const DOLLAR = 1_000_000n
/** The rate 1, times 10^8. */
const RATE_ONE = 100_000_000n

const hoursAgo = (hours: number) => new Date(NOW.getTime() - hours * 3_600_000)

test('every currency has the two decimals that the conversions, here and in SQL, take for granted', () => {
  expect(Object.entries(CURRENCY_EXPONENT).filter(([, decimals]) => decimals !== 2)).toEqual([])
})

describe('exchange rates', () => {
  const read = (perUsd: string, asOf = NOW) => readRate('EUR', { perUsd, asOf }, NOW)

  test('are read from decimals exactly, without floats', () => {
    expect(read('0.86')).toEqual({ kind: 'rate', perUsd: 86_000_000n })
    expect(read('0.86000001')).toEqual({ kind: 'rate', perUsd: 86_000_001n })
    expect(toMinorUnits(10n * DOLLAR, 86_000_001n)).toBe(860n)
  })

  test.each([['0'], ['0.00000000'], ['86'], ['0.0086']])('of %s are refused as absurd', (perUsd) => {
    expect(read(perUsd)).toEqual({ kind: 'refused', reason: 'absurd' })
  })

  test.each([['-1'], ['1e0'], ['0,86'], [''], ['NaN'], ['0.860000001']])(
    'of %j are refused as malformed',
    (perUsd) => {
      expect(read(perUsd)).toEqual({ kind: 'refused', reason: 'malformed' })
    },
  )

  test('older than 48 hours are refused', () => {
    expect(read('0.86', hoursAgo(48))).toMatchObject({ kind: 'rate' })
    expect(read('0.86', new Date(hoursAgo(48).getTime() - 1))).toEqual({ kind: 'refused', reason: 'stale' })
  })

  test('must be exactly 1 for the dollar', () => {
    expect(readRate('USD', { perUsd: '1', asOf: NOW }, NOW)).toEqual({ kind: 'rate', perUsd: RATE_ONE })
    expect(readRate('USD', { perUsd: '1.01', asOf: NOW }, NOW)).toMatchObject({ reason: 'absurd' })
  })

  test.each([
    ['1', '1.1594', '0.86251509'],
    ['6.1913', '1.1594', '5.34008970'],
    ['1.1594', '1.1594', '1.00000000'],
    ['0', '1', '0.00000000'],
    ['x', '1', undefined],
    ['1', '0', undefined],
  ])('per dollar are computed from two rates per euro: %s over %s is %s', (perEuro, dollars, perUsd) => {
    expect(crossRate(perEuro, dollars)).toBe(perUsd)
  })
})

describe('a rate compared with the reference rate', () => {
  const reference = (perUsd: string, days = 1) => ({ perUsd, asOf: hoursAgo(days * 24) })
  const refused = (next: bigint, perUsd = '0.86', days = 1) =>
    isContradicted(next, reference(perUsd, days), NOW)

  test('is refused if it is more than 3 % higher or lower', () => {
    expect([88_580_000n, 83_420_000n].map((next) => refused(next))).toEqual([false, false])
    expect([88_580_001n, 83_419_999n].map((next) => refused(next))).toEqual([true, true])
  })

  test('is not refused if the reference is older than six days or missing', () => {
    expect([refused(200_000_000n, '0.86', 6), refused(200_000_000n, '0.86', 6.01)]).toEqual([true, false])
    expect(isContradicted(200_000_000n, undefined, NOW)).toBe(false)
  })
})
