/**
 * An account can have two open offers across all stores. While it has two, a store may still send it one for a deposit
 * that the store locked to the account, unless such an offer of the store is already open.
 */
import { describe, expect, test } from 'vitest'
import { judgePartner, type PartnerFacts } from './allowance.ts'

const NOW = new Date('2026-03-01T12:00:00Z')
const MINUTE_MS = 60_000
const FREE: PartnerFacts = { open: 0, openLocked: 0, unused: null }
const judge = (change: Partial<PartnerFacts>, isLocked = false) =>
  judgePartner({ ...FREE, ...change }, { isLocked, now: NOW })
const ago = (ms: number): Date => new Date(NOW.getTime() - ms)

describe('D-31 a request for another offer to an account', () => {
  test.each([
    [0, 'allowed'],
    [1, 'allowed'],
    [2, 'too_many'],
    [7, 'too_many'],
  ])('with %i open offers is %s', (open, kind) => {
    expect(judge({ open })).toEqual({ kind })
  })

  test.each([
    { open: 2, openLocked: 0, kind: 'allowed', why: 'strangers have taken both slots' },
    { open: 1, openLocked: 1, kind: 'allowed', why: 'a slot for everybody is free' },
    {
      open: 2,
      openLocked: 1,
      kind: 'too_many',
      why: 'one of the two is for a deposit that the store locked',
    },
    { open: 3, openLocked: 1, kind: 'too_many', why: 'all three are taken' },
  ])('for a locked deposit is $kind if $why', ({ kind, ...facts }) => {
    expect(judge(facts, true)).toEqual({ kind })
  })
})

describe('D-31 unused offers', () => {
  test.each([
    [1, 1],
    [2, 2],
    [3, 4],
    [4, 8],
    [5, 16],
    [6, 30],
    [7, 30],
    [5_000, 30],
  ])('pause the next offer to the account: %i in a row, for %i minutes', (count, minutes) => {
    const pauseMs = minutes * MINUTE_MS
    const until = new Date(NOW.getTime() + 1)
    expect(judge({ unused: { count, lastAt: ago(pauseMs - 1) } })).toEqual({ kind: 'paused', until })
    expect(judge({ unused: { count, lastAt: ago(pauseMs) } })).toEqual({ kind: 'allowed' })
  })

  test('do not pause a locked deposit', () => {
    expect(judge({ unused: { count: 9, lastAt: NOW } }, true)).toEqual({ kind: 'allowed' })
  })
})
