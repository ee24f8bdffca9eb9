import { expect, it } from 'vitest'
import { CURRENCIES, decimalOf, majorOf, withDecimals } from './money.ts'

it.each([
  [1_234, 0, '1234'],
  [0, 0, '0'],
  [-5, 0, '-5'],
  [1_234, 2, '12.34'],
  [5, 2, '0.05'],
  [-1_250, 2, '-12.50'],
  [1_234, 3, '1.234'],
  [5, 3, '0.005'],
  [12_345_678_901_234_567_890n, 3, '12345678901234567.890'],
])('%s with %i decimals is %s', (minor, digits, text) => {
  expect(withDecimals(minor, digits)).toBe(text)
})

it.each(CURRENCIES)('an amount in %s has two decimals', (currency) => {
  expect(decimalOf(84_050, currency)).toBe('840.50')
  expect(majorOf(84_050, currency)).toBe(840.5)
})
