import { describe, expect, it } from 'vitest'
import { DEPOSIT_STATUSES, isFinal } from '../../contract/statuses.ts'
import { mayMove } from './deposit.ts'

const targetsOf = (from: (typeof DEPOSIT_STATUSES)[number]) =>
  DEPOSIT_STATUSES.filter((to) => mayMove(from, to))

describe('a deposit', () => {
  it('that was created waits for a trade until its time is over', () => {
    expect(targetsOf('created')).toEqual(['pending', 'succeeded', 'paymentTimeout'])
  })

  it('that is pending ends as its trade does', () => {
    expect(targetsOf('pending')).toEqual([
      'succeeded',
      'tradeTimeout',
      'tradeDeclined',
      'tradeCountered',
      'tradeHasInvalidItems',
    ])
  })

  it.each(DEPOSIT_STATUSES.filter((status) => isFinal(status) && status !== 'succeeded'))(
    'D-6 that ended as %s may only succeed after all, by proof of delivery',
    (from) => {
      expect(targetsOf(from)).toEqual(['succeeded'])
    },
  )

  it('that succeeded stays so', () => {
    expect(targetsOf('succeeded')).toEqual([])
  })
})
