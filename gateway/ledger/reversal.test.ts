import { expect, it } from 'vitest'
import { fc, test } from '../testing/property.ts'
import { chargedToStore, reversalMovements } from './reversal.ts'

const amount = fc.bigInt({ min: 1n, max: 10n ** 12n })

test.prop([amount, amount, amount, fc.constantFrom('operator' as const, 'store' as const)])(
  'D-9 a reversal takes back exactly the credit for the items, first from the held part',
  (total, commission, held, liability) => {
    const gross = total + commission
    const movements = reversalMovements({ total, gross, held, liability })
    const debited = (debit: string) =>
      movements.filter((movement) => movement.debit === debit).reduce((sum, { amount }) => sum + amount, 0n)
    expect(movements.reduce((sum, movement) => sum + movement.amount, 0n)).toBe(gross)
    expect(movements.every((movement) => movement.credit === 'items' && movement.amount > 0n)).toBe(true)
    expect(debited('commission')).toBe(commission)
    expect(debited('held')).toBe(held < total ? held : total)
    expect(debited('held') + debited(liability === 'store' ? 'available' : 'loss')).toBe(total)
    expect(debited(liability === 'store' ? 'loss' : 'available')).toBe(0n)
    expect(chargedToStore(movements)).toBe(liability === 'store' ? total : debited('held'))
  },
)

test.prop([amount])('a reversal of zero, or of more than the items were worth, throws', (total) => {
  const reversal = { gross: total, held: 0n, liability: 'operator' } as const
  expect(() => reversalMovements({ ...reversal, total: 0n })).toThrow(RangeError)
  expect(() => reversalMovements({ ...reversal, total: total + 1n })).toThrow(RangeError)
})

it('D-9 a reversal has one movement for each part, with its cause, and throws if the held part is negative', () => {
  const reversal = { total: 1_000n, gross: 1_100n, held: 400n }
  expect(reversalMovements({ ...reversal, liability: 'operator' })).toEqual([
    { debit: 'held', credit: 'items', amount: 400n, cause: 'reversed' },
    { debit: 'loss', credit: 'items', amount: 600n, cause: 'reversed' },
    { debit: 'commission', credit: 'items', amount: 100n, cause: 'commission_reversed' },
  ])
  expect(reversalMovements({ total: 5n, gross: 5n, held: 0n, liability: 'store' })).toEqual([
    { debit: 'available', credit: 'items', amount: 5n, cause: 'reversed' },
  ])
  expect(() => reversalMovements({ ...reversal, held: -1n, liability: 'store' })).toThrow(
    'not a reversal: total 1000, gross 1100, held -1',
  )
})
