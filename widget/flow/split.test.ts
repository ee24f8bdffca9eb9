import { describe, expect, it } from 'vitest'
import { creditOf, forecast } from './split.ts'
import { payment } from './test-states.ts'

const UNTIL = '2026-11-30T12:00:00.000Z'
const hold = { atOnce: 1_000, days: 8, until: UNTIL }

describe('D-9 the credit shown before a press on Add funds', () => {
  it.each([
    ['all now if no credit is held', 3_375, null, { now: 3_375, later: 0, until: null, certainty: 'final' }],
    [
      'all now within the limit, but not certain',
      1_000,
      hold,
      { now: 1_000, later: 0, until: null, certainty: 'expected' },
    ],
    [
      'partly later above the limit',
      3_375,
      hold,
      { now: 1_000, later: 2_375, until: UNTIL, certainty: 'expected' },
    ],
    [
      'all later if nothing is credited now',
      3_375,
      { ...hold, atOnce: 0 },
      { now: 0, later: 3_375, until: UNTIL, certainty: 'expected' },
    ],
    [
      'certain if all of it is credited on release',
      3_375,
      { ...hold, atOnce: 0, by: 'release' as const },
      { now: 0, later: 3_375, until: UNTIL, certainty: 'final' },
    ],
    ['zero without items', 0, hold, { now: 0, later: 0, until: null, certainty: 'final' }],
  ])('is %s', (_, total, holdOfInventory, split) => {
    expect(forecast(total, holdOfInventory)).toEqual(split)
  })
})

describe('D-9 the money of an offer', () => {
  const held = { amount: 3_375, heldAmount: 2_375, heldUntil: UNTIL }
  it.each([
    ['is at least the promised amount while the offer is open', 'pending', held, [1_000, 2_375, 'least']],
    ['is the credited amount once the items have arrived', 'succeeded', held, [1_000, 2_375, 'final']],
    [
      'may all be credited later, because of the limit',
      'pending',
      { ...held, heldAmount: 3_375, heldBy: 'limit' },
      [0, 3_375, 'least'],
    ],
    [
      'is certain if all of it is credited on release',
      'pending',
      { ...held, heldAmount: 3_375, heldBy: 'release' },
      [0, 3_375, 'final'],
    ],
    [
      'is certain if all of it is held, and an older server does not say why',
      'pending',
      { ...held, heldAmount: 3_375 },
      [0, 3_375, 'final'],
    ],
    [
      'is all credited at once if no credit is held',
      'pending',
      { ...held, heldAmount: 0, heldUntil: null },
      [3_375, 0, 'final'],
    ],
  ] as const)('%s', (_, status, money, [now, later, certainty]) => {
    expect(creditOf(payment({ status, ...money }))).toEqual({
      now,
      later,
      certainty,
      until: money.heldUntil,
    })
  })

  it('is unknown before there is an offer', () => {
    expect(creditOf(payment())).toBeNull()
  })
})
