import { describe, expect, it } from 'vitest'
import type { SeenOffer } from '../giving/gift.ts'
import { type DealBeforeOffer, type DealWithOffer, stepAfter, stepBefore } from './deal.ts'

const MINUTE_MS = 60_000
const START = new Date('2026-01-01T12:00:00Z')
const after = (ms: number): Date => new Date(START.getTime() + ms)

const base = {
  market: 'market.csgo.com',
  account: '76561198000000001',
  due: {
    dealId: 'd1',
    partnerSteamId: '76561198000000002',
    token: 'abcdefgh',
    message: 'm',
    assets: [{ appId: 730, contextId: '2', assetId: '1' }],
  },
  itemIds: ['1'],
  intendedAt: START,
}
const intended: DealBeforeOffer = { ...base, state: 'intended' }
const active: DealWithOffer = {
  ...base,
  state: 'active',
  offerId: '5',
  sentAt: START,
  isConfirmed: false,
  isReported: false,
}

type AfterCase = {
  state: 'needs_confirmation' | 'active' | 'in_escrow'
  ageMs: number
  /** How long after the intent the offer became known. */
  sentAfterMs?: number
  isReported?: boolean
  order?: 'report_then_confirm'
  leftMs?: number
}
const kindAfter = ({
  state,
  ageMs,
  sentAfterMs = 0,
  isReported = false,
  order,
  leftMs,
}: AfterCase): string => {
  const seen: SeenOffer = { state }
  return stepAfter({ ...active, sentAt: after(sentAfterMs), isReported }, seen, {
    order: order ?? 'confirm_then_report',
    dueByMs: leftMs && after(ageMs + leftMs).getTime(),
    now: after(ageMs),
  }).kind
}

describe('a deal', () => {
  it.each([
    [4 * MINUTE_MS, Infinity, 'send'],
    [4 * MINUTE_MS + 1, Infinity, 'abandon'],
    [0, 45_000, 'send'],
    [0, 44_999, 'abandon'],
    [1, 45_000, 'abandon'],
    [4 * MINUTE_MS, undefined, 'wait'],
    [4 * MINUTE_MS + 1, undefined, 'abandon'],
  ])('without an offer, %i ms after the intent, with the limit at %s ms: %s', (ageMs, dueByMs, kind) => {
    const known = { dueByMs: dueByMs && START.getTime() + dueByMs, now: after(ageMs) }
    expect(stepBefore(intended, known).kind).toBe(kind)
  })

  it.each([
    [{ state: 'needs_confirmation', ageMs: 5 * MINUTE_MS }, 'confirm'],
    // The market has cancelled the sale by then, so a confirmation would give the item for nothing.
    [{ state: 'needs_confirmation', ageMs: 5 * MINUTE_MS + 1 }, 'cancel'],
    // The vault was down, and found the offer only afterwards.
    [{ state: 'needs_confirmation', ageMs: 5 * MINUTE_MS + 1, sentAfterMs: 5 * MINUTE_MS }, 'cancel'],
    // The clock was set back, so the age is unknown.
    [{ state: 'needs_confirmation', ageMs: -5 * MINUTE_MS }, 'confirm'],
    [{ state: 'needs_confirmation', ageMs: -5 * MINUTE_MS - 1 }, 'cancel'],
    [{ state: 'needs_confirmation', ageMs: 0, leftMs: 20_000 }, 'confirm'],
    [{ state: 'needs_confirmation', ageMs: 0, leftMs: 19_999 }, 'cancel'],
    [{ state: 'needs_confirmation', ageMs: 0, leftMs: 19_999, order: 'report_then_confirm' }, 'cancel'],
    // The time limit is for the hand-over. The buyer may accept later.
    [{ state: 'active', ageMs: 0, leftMs: -1, isReported: true }, 'ask'],
    [{ state: 'needs_confirmation', ageMs: 0, order: 'report_then_confirm' }, 'report'],
    [{ state: 'needs_confirmation', ageMs: 0, order: 'report_then_confirm', isReported: true }, 'confirm'],
    [
      {
        state: 'needs_confirmation',
        ageMs: 5 * MINUTE_MS + 1,
        order: 'report_then_confirm',
        isReported: true,
      },
      'cancel',
    ],
    [{ state: 'active', ageMs: 0 }, 'report'],
    [{ state: 'active', ageMs: 10 * MINUTE_MS, isReported: true }, 'ask'],
    [{ state: 'active', ageMs: 10 * MINUTE_MS + 1, isReported: true }, 'cancel'],
    [{ state: 'active', ageMs: -10 * MINUTE_MS, isReported: true }, 'ask'],
    [{ state: 'active', ageMs: -10 * MINUTE_MS - 1, isReported: true }, 'cancel'],
    [{ state: 'in_escrow', ageMs: 60 * MINUTE_MS, isReported: true }, 'wait'],
  ] satisfies [AfterCase, string][])('whose offer is %o: %s', (seen, kind) => {
    expect(kindAfter(seen)).toBe(kind)
  })
})
