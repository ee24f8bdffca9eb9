import { describe, expect, it } from 'vitest'
import { inventory, item, payment } from '../flow/test-states.ts'
import { amountIn, suggestedAmounts } from './amounts.ts'

describe('suggested amounts', () => {
  const items = [item('1', 1_200), item('2', 900), item('3', 600)]

  it('are round, at least the minimum, and at most the worth of one offer and the deposit’s maximum', () => {
    expect(suggestedAmounts(inventory(items), payment())).toEqual([500, 1_000, 2_500])
    expect(suggestedAmounts(inventory(items, { minPrice: 600 }), payment())).toEqual([1_000, 2_500])
    expect(suggestedAmounts(inventory(items, { maxItems: 2 }), payment())).toEqual([500, 1_000])
    expect(suggestedAmounts(inventory(items), payment({ maxAmount: 999 }))).toEqual([500])
    expect(suggestedAmounts(inventory(items), payment({ currency: 'BRL' }))).toEqual([2_500])
    expect(suggestedAmounts(inventory([]), payment())).toEqual([])
  })

  it('are only the deposit’s target if it has one, and none if the items are worth less', () => {
    expect(suggestedAmounts(inventory(items), payment({ targetAmount: 1_499 }))).toEqual([1_499])
    expect(suggestedAmounts(inventory(items), payment({ targetAmount: 9_999 }))).toEqual([])
  })
})

it.each([
  ['20', 2_000],
  ['20.5', 2_050],
  ['20,05', 2_005],
  ['$ 20.00', 2_000],
  ['1 250,00\u00a0€', 125_000],
  ['R$ 25', 2_500],
  ['0.01', 1],
  ['12.', 1_200],
])('a typed %j is %i cents', (text, cents) => {
  expect(amountIn(text, 'USD')).toBe(cents)
})

it.each(['', '0', '-5', '1.234', '1,2,3', 'ten', '1e9', '9999999999', '٣', '5%'])(
  'the text %j is not an amount',
  (text) => {
    expect(amountIn(text, 'USD')).toBeUndefined()
  },
)
