import { describe, expect, it } from 'vitest'
import { DEPOSIT_STATUSES, type DepositStatus, isFinal } from '../../contract/statuses.ts'
import {
  acceptedGames,
  DEFAULT_DEPOSIT_LIFE_MS,
  DEPOSIT_EDGES,
  type DepositCause,
  decideDeposit,
  END_REASONS,
  isEndReason,
} from './deposit.ts'

const expiresAt = new Date('2026-01-01T13:00:00Z')
const msAfterExpiry = (ms: number) => new Date(expiresAt.getTime() + ms)
const statusAfter = (status: DepositStatus, cause: DepositCause) =>
  decideDeposit({ status, expiresAt }, cause)

const ENDS = ['tradeTimeout', 'tradeDeclined', 'tradeCountered', 'tradeHasInvalidItems'] as const

describe('a deposit', () => {
  it('waits for a trade until its time is up', () => {
    expect(statusAfter('created', { kind: 'offer_opened' })).toBe('pending')
    expect(
      statusAfter('created', { kind: 'time_passed', now: msAfterExpiry(-1), isStopped: false }),
    ).toBeNull()
    expect(statusAfter('created', { kind: 'time_passed', now: msAfterExpiry(0), isStopped: false })).toBe(
      'paymentTimeout',
    )
  })

  it('D-6 does not expire while its time is stopped', () => {
    expect(
      statusAfter('created', { kind: 'time_passed', now: msAfterExpiry(99), isStopped: true }),
    ).toBeNull()
  })

  it.each(ENDS)('ends as %s with its trade if it is pending, and otherwise does not change', (status) => {
    const tradeEnded = { kind: 'trade_ended', status } as const
    expect(statusAfter('pending', tradeEnded)).toBe(status)
    for (const from of DEPOSIT_STATUSES.filter((each) => each !== 'pending')) {
      expect(statusAfter(from, tradeEnded)).toBeNull()
    }
  })

  it('does not expire while it is pending', () => {
    expect(
      statusAfter('pending', { kind: 'time_passed', now: msAfterExpiry(1), isStopped: false }),
    ).toBeNull()
  })

  it.each(DEPOSIT_STATUSES.filter((status) => status !== 'succeeded'))(
    'D-6 that is %s succeeds by proof of delivery',
    (from) => {
      expect(statusAfter(from, { kind: 'delivered' })).toBe('succeeded')
    },
  )

  it.each(DEPOSIT_STATUSES.filter(isFinal))(
    'D-6 that ended as %s does not change without proof of delivery',
    (from) => {
      expect(statusAfter(from, { kind: 'offer_opened' })).toBeNull()
      expect(statusAfter(from, { kind: 'time_passed', now: msAfterExpiry(1), isStopped: false })).toBeNull()
    },
  )

  it('can be cancelled by its store in the status created, and in no other', () => {
    for (const from of DEPOSIT_STATUSES) {
      const to = statusAfter(from, { kind: 'cancelled_by_store' })
      expect(to).toBe(from === 'created' ? 'paymentTimeout' : null)
    }
  })

  it('lives for an hour by default', () => {
    expect(DEFAULT_DEPOSIT_LIFE_MS).toBe(3_600_000)
  })

  it('I10 moves along the edges of its diagram, and along no others', () => {
    const causes: DepositCause[] = [
      { kind: 'offer_opened' },
      { kind: 'delivered' },
      { kind: 'cancelled_by_store' },
      { kind: 'time_passed', now: msAfterExpiry(1), isStopped: false },
      ...ENDS.map((status) => ({ kind: 'trade_ended' as const, status })),
    ]
    const reached = (from: DepositStatus) => new Set(causes.map((cause) => statusAfter(from, cause)))
    const afterEnd = ['succeeded']
    const diagram = {
      created: ['pending', 'succeeded', 'paymentTimeout'],
      pending: ['succeeded', ...ENDS],
      succeeded: [],
      paymentTimeout: afterEnd,
      tradeTimeout: afterEnd,
      tradeDeclined: afterEnd,
      tradeCountered: afterEnd,
      tradeHasInvalidItems: afterEnd,
    }
    expect(DEPOSIT_EDGES).toEqual(diagram)
    for (const from of DEPOSIT_STATUSES) expect(reached(from)).toEqual(new Set([null, ...diagram[from]]))
  })

  it('does not succeed twice', () => {
    expect(statusAfter('succeeded', { kind: 'delivered' })).toBeNull()
  })
})

it('a text counts as a reason for an end only if it is in END_REASONS', () => {
  expect(END_REASONS.length).toBeGreaterThan(1)
  expect(END_REASONS.every(isEndReason)).toBe(true)
  expect(isEndReason('bored')).toBe(false)
})

it.each([
  ['all, if neither the call nor the store limits them', null, undefined, null],
  ['those of the store, if the call names none', ['cs', 'tf'], undefined, ['cs', 'tf']],
  ['those of the call, if the store may use all', null, ['dota'], ['dota']],
  ['those of the call that the store may use', ['cs', 'tf'], ['tf', 'rust'], ['tf']],
  ['none, if the store may use none of the call’s', ['cs'], ['rust'], []],
] as const)('the games of a deposit are %s', (_title, allowed, named, games) => {
  const accepted = acceptedGames(allowed, named === undefined ? undefined : [...named])
  expect(accepted).toEqual(games)
})
