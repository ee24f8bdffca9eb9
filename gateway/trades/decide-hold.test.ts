import { describe, expect, it } from 'vitest'
import type { OfferState } from '../steam/steam.ts'
import { active, at, attempt, declined, offer, oneTradePerState } from '../testing/trades.ts'
import { decide, type Fact } from './decide.ts'
import { judgeStray } from './stray.ts'
import { evolve, isEnded, type Trade, type TradeEvent } from './trade.ts'

const DAY_S = 86_400

const eventsOf = (trade: Trade, fact: Fact, seconds = 30) =>
  decide(trade, fact, { now: at(seconds), protectionDays: 0, isWanted: true, attempt })
const offerRead = (state: OfferState): Fact => ({ kind: 'offer_read', offer: offer(state) })

describe('an escrow', () => {
  it('D-24 ends the deposit without a credit, and the till never cancels its offer', () => {
    const until = at(15 * DAY_S)
    const escrow: Fact = { kind: 'offer_read', offer: offer('in_escrow', { escrowEndsAt: until }) }
    const end = { state: 'invalid', status: 'tradeHasInvalidItems', reason: 'escrow' }
    const endedEvents = [{ kind: 'ended', end, steamHoldUntil: until, at: at(30) }]
    expect(eventsOf(active, escrow)).toEqual(endedEvents)
    // The cancel began a moment too late.
    expect(eventsOf({ ...active, cancelling: 'deadline' }, escrow)).toEqual(endedEvents)
    expect(judgeStray(offer('in_escrow'))).toEqual({ kind: 'nothing' })
    // An offer that still needs a confirmation is not in escrow.
    expect(eventsOf(active, offerRead('needs_confirmation'))).toEqual([
      { kind: 'cancel_begun', because: 'needs_confirmation' },
    ])
  })

  it('D-24 without a stated end counts as the longest possible escrow', () => {
    expect(eventsOf(active, offerRead('in_escrow'))).toMatchObject([{ steamHoldUntil: at(15 * DAY_S) }])
  })

  it('D-24 ends when Steam shows its offer as ended, not while the offer is in escrow, active or accepted', () => {
    const waiting: Trade = { ...declined, state: 'invalid', reason: 'escrow', steamHoldUntil: at(15 * DAY_S) }
    for (const state of ['in_escrow', 'active', 'accepted'] as const) {
      expect(eventsOf(waiting, offerRead(state), DAY_S)).toEqual([])
    }
    const unnamed: Fact = { kind: 'offer_read', offer: offer('accepted', { tradeId: null }) }
    expect(eventsOf(waiting, unnamed, DAY_S)).toEqual([])
    for (const state of ['cancelled', 'declined', 'expired', 'invalid_items'] as const) {
      expect(eventsOf(waiting, offerRead(state), DAY_S)).toEqual([
        { kind: 'hold_ended', because: 'seen', at: at(DAY_S) },
      ])
    }
  })

  it('D-24 that seemed to be over is recorded a second time if Steam shows it again', () => {
    const over: Trade = { ...declined, state: 'invalid', reason: 'escrow' }
    expect(eventsOf(over, offerRead('in_escrow'), DAY_S)).toEqual([
      { kind: 'hold_seen', offerId: '5', until: at(15 * DAY_S) },
    ])
  })

  it('that Steam still shows a day after its end counts as over', () => {
    const waiting: Trade = { ...declined, state: 'invalid', reason: 'escrow', steamHoldUntil: at(15 * DAY_S) }
    expect(eventsOf(waiting, offerRead('in_escrow'), 16 * DAY_S - 1)).toEqual([])
    expect(eventsOf(waiting, offerRead('in_escrow'), 16 * DAY_S)).toEqual([
      { kind: 'hold_ended', because: 'overdue', at: at(16 * DAY_S) },
    ])
  })

  it('that is first read a day or more after its end counts as over from the first read', () => {
    expect(eventsOf(active, offerRead('in_escrow'), 16 * DAY_S - 1)).toMatchObject([
      { steamHoldUntil: at(15 * DAY_S) },
    ])
    expect(eventsOf(active, offerRead('in_escrow'), 16 * DAY_S)).toMatchObject([
      { kind: 'ended', steamHoldUntil: null },
    ])
  })
})

describe('the record of items that Steam holds', () => {
  const holdSeen: TradeEvent = { kind: 'hold_seen', offerId: '8', until: at(99) }
  const holdEnded: TradeEvent = { kind: 'hold_ended', because: 'seen', at: at(120) }
  const [ended, others] = [
    oneTradePerState.filter(isEnded),
    oneTradePerState.filter((trade) => !isEnded(trade)),
  ]

  it('is kept for a trade that ended without its items, until the hold is over', () => {
    for (const trade of ended) {
      const waiting = evolve(trade, holdSeen)
      expect(waiting).toEqual({ ...trade, offerId: '8', steamHoldUntil: at(99) })
      expect(evolve(waiting, holdEnded)).toEqual({ ...waiting, steamHoldUntil: null, endedAt: at(120) })
    }
  })

  it('exists for no trade in another state, and cannot end before it began', () => {
    for (const trade of others) {
      expect(() => evolve(trade, holdSeen)).toThrow('hold_seen does not belong there')
      // The guard must not depend on the other states lacking the field.
      expect(() => evolve({ ...trade, steamHoldUntil: at(99) } as Trade, holdEnded)).toThrow('hold_ended')
    }
    for (const trade of ended)
      expect(() => evolve(trade, holdEnded)).toThrow('hold_ended does not belong there')
  })
})
