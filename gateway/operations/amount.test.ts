import fc from 'fast-check'
import { expect, it } from 'vitest'
import { CURRENCIES, decimalOf, percentOf } from '../../contract/money.ts'
import { formatAmount, parseAmount, parsePercent } from './amount.ts'

it.each([
  [84_000n, '840.00 USD'],
  [5n, '0.05 USD'],
  [0n, '0.00 USD'],
  [-1_250n, '-12.50 USD'],
  [123_456_789_012n, '1234567890.12 USD'],
])('%s minor units read as %s', (amountMinor, text) => {
  expect(formatAmount(amountMinor, 'USD')).toBe(text)
})

it('the decimal of an amount of zero or more is parsed back to the same amount', () => {
  const amounts = fc.tuple(fc.bigInt(0n, 10n ** 14n), fc.constantFrom(...CURRENCIES))
  fc.assert(
    fc.property(amounts, ([amountMinor, currency]) => {
      expect(parseAmount(decimalOf(amountMinor, currency), currency)).toBe(amountMinor)
    }),
  )
})

it.each(['1250', '12.5', '12.500', '1,250.00', ' 1.00', '-1.00', '1e3', '', '1.00 USD', '٣.00'])(
  '"%s" is not an amount',
  (text) => {
    expect(parseAmount(text, 'USD')).toBeUndefined()
  },
)

it('a percentage of zero or more is parsed back to the same hundredths of a percent', () => {
  fc.assert(fc.property(fc.integer({ min: 0, max: 9_999 }), (bps) => parsePercent(percentOf(bps)) === bps))
})

it.each(['24', '24.5', '2450', '100.00', '24,50', '24.50 %', '-1.00', ''])(
  '"%s" is not a percentage',
  (text) => {
    expect(parsePercent(text)).toBeUndefined()
  },
)
