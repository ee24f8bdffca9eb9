import { describe, expect, it } from 'vitest'
import type { OfferState } from '../steam/steam.ts'
import { active, at, attempt, declined, offer } from '../testing/trades.ts'
import { decide, type Fact, judgeStray } from './decide.ts'
import type { Trade } from './trade.ts'

const DAY = 86_400

const decided = (trade: Trade, fact: Fact, seconds = 30) =>
  decide(trade, fact, { now: at(seconds), protectionDays: 0, wanted: true, attempt })
const read = (state: OfferState): Fact => ({ kind: 'offer_read', offer: offer(state) })

describe('items that Steam holds', () => {
  it('D-24 an offer in escrow ends the deposit, is not credited, and is never cancelled by us', () => {
    const until = at(15 * DAY)
    const escrow: Fact = { kind: 'offer_read', offer: offer('in_escrow', { escrowEndsAt: until }) }
    const end = { state: 'invalid', status: 'tradeHasInvalidItems', reason: 'escrow' }
    const ended = [{ kind: 'ended', end, heldUntil: until, at: at(30) }]
    expect(decided(active, escrow)).toEqual(ended)
    // The cancel began a moment too late.
    expect(decided({ ...active, cancelling: 'deadline' }, escrow)).toEqual(ended)
    expect(judgeStray(offer('in_escrow'))).toEqual({ kind: 'nothing' })
    expect(decided(active, read('needs_confirmation'))).toEqual([
      { kind: 'cancel_begun', because: 'needs_confirmation' },
    ])
  })

  it('D-24 an escrow without a stated end counts as the longest possible escrow', () => {
    expect(decided(active, read('in_escrow'))).toMatchObject([{ heldUntil: at(15 * DAY) }])
  })

  it('D-24 a hold ends when the shopper cancels it, and not while Steam says that it continues', () => {
    const waiting: Trade = { ...declined, state: 'invalid', reason: 'escrow', heldUntil: at(15 * DAY) }
    for (const state of ['in_escrow', 'active', 'accepted'] as const) {
      expect(decided(waiting, read(state), DAY)).toEqual([])
    }
    for (const state of ['cancelled', 'declined', 'expired', 'invalid_items'] as const) {
      expect(decided(waiting, read(state), DAY)).toEqual([
        { kind: 'hold_ended', because: 'seen', at: at(DAY) },
      ])
    }
  })

  it('D-24 a hold that seemed to be over is recorded again if Steam still shows it', () => {
    const over: Trade = { ...declined, state: 'invalid', reason: 'escrow' }
    expect(decided(over, read('in_escrow'), DAY)).toEqual([
      { kind: 'hold_seen', offerId: '5', until: at(15 * DAY) },
    ])
  })

  it('a hold that Steam still shows a day after its end is no longer waited for', () => {
    const waiting: Trade = { ...declined, state: 'invalid', reason: 'escrow', heldUntil: at(15 * DAY) }
    expect(decided(waiting, read('in_escrow'), 16 * DAY - 1)).toEqual([])
    expect(decided(waiting, read('in_escrow'), 16 * DAY)).toEqual([
      { kind: 'hold_ended', because: 'overdue', at: at(16 * DAY) },
    ])
  })

  it('an escrow that is first read more than a day after its end is over immediately', () => {
    expect(decided(active, read('in_escrow'), 16 * DAY - 1)).toMatchObject([{ heldUntil: at(15 * DAY) }])
    expect(decided(active, read('in_escrow'), 16 * DAY)).toMatchObject([{ kind: 'ended', heldUntil: null }])
  })
})
