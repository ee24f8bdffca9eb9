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
  /** How long after the intent the step is chosen. */
  ageMs: number
  /** How long after the intent the offer became known. */
  sentAfterMs?: number
  isReported?: boolean
  order?: 'report_then_confirm'
  /** How much of the sale's time limit is left. */
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
  /** `limitMs`: from the intent to the end of the sale's time limit; Infinity: none; undefined: not known yet. */
  it.each([
    ['four minutes after the intent', 'send', { ageMs: 4 * MINUTE_MS, limitMs: Infinity }],
    ['more than four minutes after the intent', 'abandon', { ageMs: 4 * MINUTE_MS + 1, limitMs: Infinity }],
    // The clock was set back.
    [
      'more than four minutes before the intent',
      'abandon',
      { ageMs: -4 * MINUTE_MS - 1, limitMs: undefined },
    ],
    ['with a time limit of 45 seconds', 'send', { ageMs: 0, limitMs: 45_000 }],
    ['with a time limit of less than 45 seconds', 'abandon', { ageMs: 0, limitMs: 44_999 }],
    ['with less than 45 seconds left of its time limit', 'abandon', { ageMs: 1, limitMs: 45_000 }],
    ['with an unknown time limit', 'wait', { ageMs: 4 * MINUTE_MS, limitMs: undefined }],
    [
      'with an unknown time limit, more than four minutes after the intent',
      'abandon',
      { ageMs: 4 * MINUTE_MS + 1, limitMs: undefined },
    ],
  ])('without an offer, %s: %s', (_when, kind, { ageMs, limitMs }) => {
    const time = { dueByMs: limitMs && START.getTime() + limitMs, now: after(ageMs) }
    expect(stepBefore(intended, time).kind).toBe(kind)
  })

  it.each([
    ['five minutes after the intent', 'confirm', { ageMs: 5 * MINUTE_MS }],
    // The market has cancelled the sale by then, so a confirmation would give the item for nothing.
    ['more than five minutes after the intent', 'cancel', { ageMs: 5 * MINUTE_MS + 1 }],
    // The vault was down, and found the offer only afterwards.
    ['found too late', 'cancel', { ageMs: 5 * MINUTE_MS + 1, sentAfterMs: 5 * MINUTE_MS }],
    // The clock was set back, so the age is unknown.
    ['five minutes before the intent', 'confirm', { ageMs: -5 * MINUTE_MS }],
    ['more than five minutes before the intent', 'cancel', { ageMs: -5 * MINUTE_MS - 1 }],
    ['with 20 seconds left', 'confirm', { ageMs: 0, leftMs: 20_000 }],
    ['with less than 20 seconds left', 'cancel', { ageMs: 0, leftMs: 19_999 }],
    [
      'to be reported first, with less than 20 seconds left',
      'cancel',
      { ageMs: 0, leftMs: 19_999, order: 'report_then_confirm' },
    ],
    ['to be reported first', 'report', { ageMs: 0, order: 'report_then_confirm' }],
    ['already reported', 'confirm', { ageMs: 0, order: 'report_then_confirm', isReported: true }],
    [
      'already reported, more than five minutes after the intent',
      'cancel',
      { ageMs: 5 * MINUTE_MS + 1, order: 'report_then_confirm', isReported: true },
    ],
  ] satisfies [string, string, Omit<AfterCase, 'state'>][])(
    'whose offer needs a confirmation, %s: %s',
    (_when, kind, given) => {
      expect(kindAfter({ state: 'needs_confirmation', ...given })).toBe(kind)
    },
  )

  it.each([
    ['not reported', 'report', { ageMs: 0 }],
    // A confirmed offer outlives the time limit: the buyer may accept until CANCEL_AFTER_MS.
    ['reported, after the time limit', 'ask', { ageMs: 0, leftMs: -1, isReported: true }],
    ['reported, ten minutes after it was sent', 'ask', { ageMs: 10 * MINUTE_MS, isReported: true }],
    [
      'reported, more than ten minutes after it was sent',
      'cancel',
      { ageMs: 10 * MINUTE_MS + 1, isReported: true },
    ],
    // The clock was set back.
    ['reported, ten minutes before it was sent', 'ask', { ageMs: -10 * MINUTE_MS, isReported: true }],
    [
      'reported, more than ten minutes before it was sent',
      'cancel',
      { ageMs: -10 * MINUTE_MS - 1, isReported: true },
    ],
  ] satisfies [string, string, Omit<AfterCase, 'state'>][])(
    'whose offer is open, %s: %s',
    (_when, kind, given) => {
      expect(kindAfter({ state: 'active', ...given })).toBe(kind)
    },
  )

  it('whose offer is in escrow: wait', () => {
    expect(kindAfter({ state: 'in_escrow', ageMs: 60 * MINUTE_MS, isReported: true })).toBe('wait')
  })
})
