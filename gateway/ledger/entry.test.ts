import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { judgeAdjustment } from './adjustment.ts'
import {
  adjustmentMovements,
  deliveryMovements,
  heldPart,
  isStoreAccount,
  mostCareful,
  payoutMovements,
  promisedPart,
  releaseMovements,
  roomFor,
  voidMovements,
} from './entry.ts'
import { judgePayout } from './payout.ts'

describe('a delivery', () => {
  it('pays the store from the items, and the operator the commission', () => {
    expect(deliveryMovements({ total: 3_000n, gross: 3_300n, held: 500n })).toEqual([
      { debit: 'items', credit: 'held', amount: 500n, cause: 'delivered' },
      { debit: 'items', credit: 'available', amount: 2_500n, cause: 'delivered' },
      { debit: 'items', credit: 'commission', amount: 300n, cause: 'commission' },
    ])
  })

  it('has no movement of zero', () => {
    expect(deliveryMovements({ total: 1n, gross: 1n, held: 1n })).toEqual([
      { debit: 'items', credit: 'held', amount: 1n, cause: 'delivered' },
    ])
  })

  it('neither creates nor loses a cent', () => {
    const amounts = fc.tuple(
      fc.bigInt(1n, 10n ** 15n),
      fc.bigInt(0n, 10n ** 12n),
      fc.integer({ min: 0, max: 100 }),
    )
    fc.assert(
      fc.property(amounts, ([total, commission, percent]) => {
        const held = (total * BigInt(percent)) / 100n
        const movements = deliveryMovements({ total, gross: total + commission, held })
        const sum = (kind: string) =>
          movements.reduce((total, { credit, amount }) => total + (credit === kind ? amount : 0n), 0n)
        expect(sum('held')).toBe(held)
        expect(sum('held') + sum('available')).toBe(total)
        expect(sum('commission')).toBe(commission)
        expect(movements.every(({ amount, debit }) => amount > 0n && debit === 'items')).toBe(true)
      }),
    )
  })

  it.each([
    ['nothing', { total: 0n, gross: 10n, held: 0n }],
    ['more than the items are worth', { total: 11n, gross: 10n, held: 0n }],
    ['a held part above the total', { total: 5n, gross: 10n, held: 6n }],
    ['a negative held part', { total: 5n, gross: 10n, held: -1n }],
  ])('cannot pay %s', (_name, delivery) => {
    const { total, gross, held } = delivery
    expect(() => deliveryMovements(delivery)).toThrow(
      `a delivery of ${gross} cannot pay ${total}, ${held} of it held`,
    )
  })
})

describe('accounts', () => {
  it('of a store are its held and its available credit', () => {
    const kinds = ['held', 'available', 'items', 'commission', 'loss', 'paid_out', 'adjustments'] as const
    expect(kinds.filter(isStoreAccount)).toEqual(['held', 'available'])
  })
})

describe('the held part', () => {
  const credit = { total: 3_000n, isProtected: true, mode: 'on_accept' as const, riskRoom: 10_000n }
  it.each<[string, Partial<Parameters<typeof heldPart>[0]>, bigint]>([
    ['is nothing if Steam protects nothing', { isProtected: false, riskRoom: 0n }, 0n],
    ['is nothing if the room for risk covers it', {}, 0n],
    ['is nothing if the room is just enough', { riskRoom: 3_000n }, 0n],
    ['is the part that the room does not cover', { riskRoom: 1_000n }, 2_000n],
    ['is everything if there is no room', { riskRoom: 0n }, 3_000n],
    ['is everything if the limit was lowered below the credit at risk', { riskRoom: -500n }, 3_000n],
    ['is everything for a store that is credited on release', { mode: 'on_release' }, 3_000n],
    [
      'is nothing for a store that is credited on release, if Steam protects nothing',
      { mode: 'on_release', isProtected: false },
      0n,
    ],
  ])('%s', (_name, change, held) => {
    expect(heldPart({ ...credit, ...change })).toBe(held)
  })
})

describe('of several credit modes', () => {
  it.each([
    [['on_accept', 'on_release', null], 'on_release'],
    [['on_accept', null], 'on_accept'],
    [[], 'on_accept'],
  ] as const)('%j, the most careful is %s', (modes, mode) => {
    expect(mostCareful(modes)).toBe(mode)
  })
})

describe('the promised part', () => {
  const credit = { total: 3_375n, isProtected: true, mode: 'on_accept' as const, riskRoom: 10_000n }
  it.each<[string, Partial<Parameters<typeof promisedPart>[0]>, bigint]>([
    ['is everything if the room for risk covers it', {}, 3_375n],
    ['is everything if nothing is protected', { isProtected: false, riskRoom: 0n }, 3_375n],
    ['is the room itself if that is a round amount', { riskRoom: 1_000n }, 1_000n],
    ['is the next round amount below the room', { riskRoom: 1_999n }, 1_000n],
    ['is 1, 2 or 5 times a power of ten', { riskRoom: 3_374n }, 2_000n],
    ['is 1, 2 or 5 times a smaller power of ten', { riskRoom: 987n }, 500n],
    ['is nothing if there is no room', { riskRoom: -1n }, 0n],
    ['is nothing for a store that is credited on release', { mode: 'on_release' }, 0n],
  ])('%s', (_name, change, promised) => {
    expect(promisedPart({ ...credit, ...change })).toBe(promised)
  })

  it('is a round amount, and at most the amount that is credited immediately', () => {
    const amount = fc.bigInt(1n, 10n ** 12n)
    fc.assert(
      fc.property(amount, amount, (total, riskRoom) => {
        const credited = { ...credit, total, riskRoom }
        const promised = promisedPart(credited)
        expect(promised <= total - heldPart(credited)).toBe(true)
        // Each step is at most 2.5 times the one below it.
        expect(promised * 5n > 2n * (total - heldPart(credited)) || promised === total).toBe(true)
        if (promised !== total) expect(String(promised)).toMatch(/^[125]0*$/)
      }),
    )
  })
})

describe('the room for one trade', () => {
  it.each([
    ['is the free part of the limit', { freeMinor: 900n, ownPromiseMinor: 0n, otherPromisesMinor: 0n }, 900n],
    [
      'is reduced by the promises to other trades',
      { freeMinor: 900n, ownPromiseMinor: 0n, otherPromisesMinor: 500n },
      400n,
    ],
    [
      'includes the trade’s own promise, even if other trades were promised all that is free',
      { freeMinor: 900n, ownPromiseMinor: 700n, otherPromisesMinor: 900n },
      700n,
    ],
    [
      'is never more than the free part',
      { freeMinor: 300n, ownPromiseMinor: 700n, otherPromisesMinor: 0n },
      300n,
    ],
    [
      'can be more than was promised',
      { freeMinor: 900n, ownPromiseMinor: 200n, otherPromisesMinor: 100n },
      800n,
    ],
  ])('%s', (_name, room, left) => {
    expect(roomFor(room)).toBe(left)
  })
})

describe('a release', () => {
  it('moves held credit to available credit', () => {
    expect(releaseMovements(500n)).toEqual([
      { debit: 'held', credit: 'available', amount: 500n, cause: 'released' },
    ])
    expect(releaseMovements(0n)).toEqual([])
  })
})

describe('a payout', () => {
  it('takes available credit', () => {
    expect(payoutMovements(2_500n)).toEqual([
      { debit: 'available', credit: 'paid_out', amount: 2_500n, cause: 'paid_out' },
    ])
  })

  it.each([0n, -1n])('of %s is refused', (amount) => {
    expect(() => payoutMovements(amount)).toThrow(`a payout of ${amount} moves nothing`)
  })

  it('that is voided makes its amount available again', () => {
    expect(voidMovements(2_500n)).toEqual([
      { debit: 'paid_out', credit: 'available', amount: 2_500n, cause: 'payout_voided' },
    ])
  })

  const payout = { storeId: 1n, currency: 'USD', amount: 2_500n, reference: 'wire 1' } as const

  it.each([
    ['of all that is available is recorded', 2_500n, undefined],
    [
      'of more than is available is refused',
      2_499n,
      { kind: 'refused', reason: 'not_available', availableMinor: 2_499n },
    ],
  ])('%s', (_title, availableMinor, answer) => {
    expect(judgePayout(payout, { recorded: undefined, availableMinor })).toEqual(answer)
  })

  it('counts once under its reference, whatever the balance is', () => {
    const recorded = { currency: 'USD', amount: 2_500n, voidedAt: null } as const
    expect(judgePayout(payout, { recorded, availableMinor: 0n })).toEqual({ kind: 'known' })
  })

  it.each([
    ['of another amount', { currency: 'USD', amount: 2_501n, voidedAt: null }],
    ['in another currency', { currency: 'EUR', amount: 2_500n, voidedAt: null }],
    ['that was voided', { currency: 'USD', amount: 2_500n, voidedAt: new Date(0) }],
  ] as const)('under the reference of an earlier payout %s is refused', (_title, recorded) => {
    expect(judgePayout(payout, { recorded, availableMinor: 9_999n })).toEqual({
      kind: 'refused',
      reason: 'other_payout',
      recorded,
    })
  })
})

describe('an adjustment', () => {
  const debit = {
    storeId: 1n,
    currency: 'USD',
    kind: 'debit',
    amount: 2_500n,
    reference: 'a',
    mayOwe: false,
  } as const
  const unrecorded = { recorded: undefined, availableMinor: 2_500n }

  it('debits more than is available only if the store may owe it, and credits at any balance', () => {
    expect(judgeAdjustment(debit, unrecorded)).toBeUndefined()
    const less = { ...unrecorded, availableMinor: 2_499n }
    expect(judgeAdjustment(debit, less)).toMatchObject({ reason: 'not_available', availableMinor: 2_499n })
    expect(judgeAdjustment({ ...debit, mayOwe: true }, less)).toBeUndefined()
    expect(judgeAdjustment({ ...debit, kind: 'credit' }, less)).toBeUndefined()
  })

  it('writes off no more than a store owes', () => {
    const writeOff = { ...debit, kind: 'write_off' } as const
    expect(judgeAdjustment(writeOff, { ...unrecorded, availableMinor: -2_500n })).toBeUndefined()
    expect(judgeAdjustment(writeOff, { ...unrecorded, availableMinor: -2_499n })).toMatchObject({
      reason: 'no_debt',
    })
  })

  it('counts once under its reference, and no other adjustment may use that reference', () => {
    const recorded = { id: 7n, kind: 'debit', currency: 'USD', amount: 2_500n } as const
    const booked = { recorded, availableMinor: 0n }
    expect(judgeAdjustment(debit, booked)).toEqual({ kind: 'known', id: 7n })
    for (const other of [{ amount: 1n }, { currency: 'EUR' }, { kind: 'credit' }] as const) {
      expect(judgeAdjustment({ ...debit, ...other }, booked)).toMatchObject({ reason: 'other_adjustment' })
    }
  })

  it.each([
    ['credit', { debit: 'adjustments', credit: 'available', cause: 'adjusted' }],
    ['debit', { debit: 'available', credit: 'adjustments', cause: 'adjusted' }],
    ['write_off', { debit: 'loss', credit: 'available', cause: 'written_off' }],
  ] as const)(
    'of the kind %s moves money between two accounts, and refuses an amount of zero',
    (kind, movement) => {
      expect(adjustmentMovements(kind, 5n)).toEqual([{ ...movement, amount: 5n }])
      expect(() => adjustmentMovements(kind, 0n)).toThrow('an adjustment of 0 moves nothing')
    },
  )
})
