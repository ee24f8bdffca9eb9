/** Decisions about requests that cannot be sent, and about offers that no longer fit their trade. */
import { describe, expect, it } from 'vitest'
import type { OfferState } from '../steam/steam.ts'
import {
  active,
  at,
  attempt,
  declined,
  held,
  intended,
  offer,
  sending,
  steamTrade,
} from '../testing/trades.ts'
import { decide, type Fact } from './decide.ts'
import type { Trade } from './trade.ts'

const DAY_S = 86_400

const events = (trade: Trade, fact: Fact, { seconds = 30, isWanted = true } = {}) =>
  decide(trade, fact, { now: at(seconds), protectionDays: 0, isWanted, attempt })
const readAs = (state: OfferState): Fact => ({ kind: 'offer_read', offer: offer(state) })

describe('a request that a bot may not send', () => {
  const heldBack: Fact = { kind: 'held_back', because: 'own_hold' }

  it('moves to another bot, or ends if its deposit has ended', () => {
    const moved = { because: 'own_hold', bars: 'own_hold', next: 'move' }
    const refused = { kind: 'refused', reason: 'no_bot_available', refusal: moved, at: at(30) }
    expect(events(intended, heldBack)).toEqual([refused])
    expect(events(intended, heldBack, { isWanted: false })).toEqual([
      { ...refused, refusal: { ...moved, next: 'end' } },
    ])
  })

  it('does not change after its send has begun', () => {
    expect(events(sending, heldBack)).toEqual([])
  })
})

describe('an open offer', () => {
  it('that needs a confirmation is not cancelled a second time', () => {
    expect(events({ ...active, cancelling: 'deadline' }, readAs('needs_confirmation'))).toEqual([])
  })

  it('that Steam again shows as accepted ends a doubt if no Steam trade is known', () => {
    const badEnd = { state: 'exchange_failed', seenAt: at(25) } as const
    const accepted = { ...active, acceptedAt: at(20), badEnd }
    expect(events(accepted, { kind: 'offer_read', offer: offer('accepted', { tradeId: null }) })).toEqual([
      { kind: 'doubt_ended' },
    ])
    expect(events({ ...accepted, steamTradeId: '900' }, readAs('accepted'))).toEqual([])
  })
})

describe('the offer of a trade that has ended', () => {
  it('causes no wait if it was not sent or its escrow is a day overdue', () => {
    const neverSent: Trade = { ...declined, state: 'refused', offerId: null, startedAt: null }
    expect(events(neverSent, readAs('in_escrow'))).toEqual([])
    expect(events(declined, readAs('in_escrow'), { seconds: 16 * DAY_S })).toEqual([])
  })

  it('gives the end of protection if it was accepted after all', () => {
    const steamTradeRead = { kind: 'steam_trade_read', offerId: '5', steamTrade: steamTrade() } as const
    const late = offer('accepted', { settlesAt: at(900_000) })
    expect(events(declined, steamTradeRead)).toMatchObject([{ kind: 'delivered', settlesAt: null }])
    expect(events(declined, { ...steamTradeRead, offer: late })).toMatchObject([
      { kind: 'delivered', settlesAt: at(900_000) },
    ])
  })
})

it('an operator can release held credit before Steam’s protection ends, but nothing of an open trade', () => {
  const release: Fact = { kind: 'operator_releases_early' }
  expect(events(held, release)).toEqual([{ kind: 'released_early', at: at(30) }])
  expect(events(active, release)).toEqual([])
})
