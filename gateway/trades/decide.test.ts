import { describe, expect, it } from 'vitest'
import type { OfferState } from '../steam/steam.ts'
import {
  abandoned,
  active,
  at,
  attempt,
  declined,
  final,
  held,
  intended,
  items,
  offer,
  reversed,
  sending,
  steamTrade,
  unknown,
} from '../testing/trades.ts'
import { decide, type Fact } from './decide.ts'
import type { Trade } from './trade.ts'

const events = (trade: Trade, fact: Fact, seconds = 30, change: { isWanted?: boolean; days?: number } = {}) =>
  decide(trade, fact, {
    now: at(seconds),
    protectionDays: change.days ?? 0,
    isWanted: change.isWanted ?? true,
    attempt,
  })
const readAs = (state: OfferState): Fact => ({ kind: 'offer_read', offer: offer(state) })
const listOf = (...offers: ReturnType<typeof offer>[]): Fact => ({ kind: 'listed', offers, unclear: 0 })
const record = (change: Parameters<typeof steamTrade>[0] = {}): Fact => ({
  kind: 'steam_trade_read',
  offerId: '5',
  steamTrade: steamTrade(change),
})

describe('a send', () => {
  it('begins once', () => {
    expect(events(intended, { kind: 'sending' })).toEqual([{ kind: 'send_begun', at: at(30) }])
    expect(events(sending, { kind: 'sending' })).toEqual([])
  })

  it('that was never made is withdrawn', () => {
    expect(events(sending, { kind: 'not_sent' })).toEqual([{ kind: 'send_withdrawn', at: at(30) }])
    expect(events(active, { kind: 'not_sent' })).toEqual([])
  })

  it('D-25 that succeeded starts the shopper’s five minutes', () => {
    const fact: Fact = { kind: 'send_answered', answer: { kind: 'sent', offerId: '5' } }
    expect(events(sending, fact)).toEqual([
      { kind: 'activated', offerId: '5', deadline: at(330), doubted: null },
    ])
    expect(events(unknown, fact)).toEqual([
      { kind: 'activated', offerId: '5', deadline: at(330), doubted: null },
    ])
    expect(events(declined, fact)).toEqual([])
  })

  it('for a deposit that ended meanwhile leaves the shopper no time', () => {
    const fact: Fact = { kind: 'send_answered', answer: { kind: 'sent', offerId: '5' } }
    expect(events(sending, fact, 30, { isWanted: false })).toMatchObject([{ deadline: at(30) }])
  })

  it('D-25 without an answer is not repeated: the till searches for its offer', () => {
    const fact: Fact = { kind: 'send_answered', answer: { kind: 'unknown', detail: '' } }
    expect(events(sending, fact)).toEqual([{ kind: 'send_unanswered' }])
    expect(events(unknown, fact)).toEqual([])
  })

  it('D-24 that Steam refuses ends as refused, unless the till already searches for its offer', () => {
    const fact: Fact = { kind: 'send_answered', answer: { kind: 'refused', reason: 'items_gone' } }
    expect(events(sending, fact)).toEqual([
      {
        kind: 'refused',
        reason: 'items_unavailable',
        refusal: { because: 'items_gone', bars: null, next: 'end' },
        at: at(30),
      },
    ])
    expect(events(unknown, fact)).toEqual([])
  })

  it('that no bot took up is refused after a minute', () => {
    expect(events(intended, { kind: 'no_bot_came' }, 59)).toEqual([])
    expect(events(intended, { kind: 'no_bot_came' }, 60)).toEqual([
      { kind: 'refused', reason: 'no_bot_available', refusal: null, at: at(60) },
    ])
    expect(events(sending, { kind: 'no_bot_came' }, 99)).toEqual([])
  })
})

describe('a list of the sent offers', () => {
  it('D-25 shows the trade’s offer among offers with another partner or code', () => {
    const others = [
      offer('active', { message: 'other', offerId: '4' }),
      offer('active', { partnerSteamId: '1' }),
    ]
    expect(events(unknown, listOf(...others, offer('active', { offerId: '7' })))).toMatchObject([
      { kind: 'activated', offerId: '7' },
    ])
  })

  it('D-25 counts an offer with the trade’s code but other items as another offer', () => {
    const fewer = offer('active', { offerId: '6', itemsToReceive: items.slice(1) })
    expect(events(unknown, listOf(fewer))).toEqual([{ kind: 'offer_missed' }])
    expect(events(unknown, listOf(fewer, offer('active', { offerId: '7' })))).toMatchObject([
      { kind: 'activated', offerId: '7' },
    ])
  })

  it('D-25 shows the offer of a send whose process was lost', () => {
    expect(events(sending, listOf(offer('active')))).toMatchObject([{ kind: 'activated', offerId: '5' }])
  })

  it('D-25 without the offer is a miss, and the third miss abandons the trade if 45 s have passed', () => {
    expect(events(unknown, listOf(), 44)).toEqual([{ kind: 'offer_missed' }])
    const twice = { ...unknown, missedReads: 2 }
    expect(events(twice, listOf(), 44)).toEqual([{ kind: 'offer_missed' }])
    expect(events({ ...unknown, missedReads: 1 }, listOf(), 45)).toEqual([{ kind: 'offer_missed' }])
    expect(events(twice, listOf(), 45)).toEqual([
      { kind: 'offer_missed' },
      { kind: 'abandoned', reason: 'not_found_on_steam', at: at(45) },
    ])
  })

  it('that cannot be read in full proves nothing', () => {
    expect(events({ ...unknown, missedReads: 2 }, { kind: 'listed', offers: [], unclear: 1 }, 99)).toEqual([])
  })

  it('changes no trade whose offer is not being searched for', () => {
    expect(events(active, listOf(offer('active', { offerId: '8' })))).toEqual([])
    expect(events(intended, listOf())).toEqual([])
  })
})

describe('a read of the offer', () => {
  it.each<[OfferState, string, string]>([
    ['declined', 'tradeDeclined', 'declined'],
    ['countered', 'tradeCountered', 'countered'],
    ['expired', 'tradeTimeout', 'timed_out'],
    ['cancelled_by_second_factor', 'tradeHasInvalidItems', 'invalid'],
  ])('D-24 as %s ends the deposit as %s', (state, status, trade) => {
    expect(events(active, readAs(state))).toMatchObject([{ kind: 'ended', end: { status, state: trade } }])
  })

  it('counts an offer that was declined within seconds as declined by a program', () => {
    expect(events(active, readAs('declined'), 9)).toMatchObject([{ end: { reason: 'declined_at_once' } }])
    expect(events(active, readAs('declined'), 10)).toMatchObject([{ end: { reason: 'declined' } }])
  })

  it('counts an offer that was cancelled elsewhere within seconds as cancelled by a program', () => {
    const reasonAt = (seconds: number) => events(active, readAs('cancelled'), seconds)
    expect(reasonAt(9)).toMatchObject([
      { end: { status: 'tradeTimeout', reason: 'cancelled_elsewhere_at_once' } },
    ])
    expect(reasonAt(10)).toMatchObject([{ end: { reason: 'cancelled_elsewhere' } }])
    const eventsOfOurCancel = events({ ...active, cancelling: 'store' }, readAs('cancelled'), 9)
    expect(eventsOfOurCancel).toMatchObject([{ end: { reason: 'cancelled_by_store' } }])
  })

  it('D-28 counts the seconds before a decline from the send, even if the deadline was postponed', () => {
    const putOff = { ...active, deadline: at(300 + 600) }
    expect(events(putOff, readAs('declined'), 605)).toMatchObject([{ end: { reason: 'declined' } }])
    expect(events(putOff, readAs('declined'), 9)).toMatchObject([{ end: { reason: 'declined_at_once' } }])
  })

  it('counts no decline as hasty if the offer was found late, because a person had time to read the offer', () => {
    const foundLate = { ...active, deadline: at(40 + 300) }
    expect(events(foundLate, readAs('declined'), 45)).toMatchObject([{ end: { reason: 'declined' } }])
  })

  it.each([
    ['deadline', 'tradeTimeout', 'deadline'],
    ['store', 'tradeTimeout', 'cancelled_by_store'],
    ['needs_confirmation', 'tradeHasInvalidItems', 'needs_confirmation'],
  ] as const)('D-24 that shows our cancel (%s) ends the deposit as %s', (cancelling, status, reason) => {
    expect(events({ ...active, cancelling }, readAs('cancelled'))).toMatchObject([
      { end: { status, reason } },
    ])
  })

  it('of an ended or delivered trade changes nothing, even if it shows an acceptance, which proves no delivery', () => {
    for (const trade of [declined, held, final]) expect(events(trade, readAs('accepted'))).toEqual([])
  })

  it('D-24 that shows a cancel by somebody else ends the trade with a separate reason', () => {
    expect(events(active, readAs('cancelled'))).toMatchObject([
      { end: { state: 'timed_out', status: 'tradeTimeout', reason: 'cancelled_elsewhere' } },
    ])
  })

  it.each(['invalid', 'invalid_items'] as const)(
    'D-18 that finds the offer %s counts only if a read ten seconds later agrees',
    (state) => {
      expect(events(active, readAs(state))).toEqual([{ kind: 'doubted', badEnd: state, at: at(30) }])
      const doubted = { ...active, badEnd: { state, seenAt: at(30) } }
      expect(events(doubted, readAs(state), 39)).toEqual([])
      expect(events(doubted, readAs(state), 40)).toMatchObject([{ end: { status: 'tradeHasInvalidItems' } }])
      const otherDoubt = { ...active, badEnd: { state: 'other', seenAt: at(0) } }
      expect(events(otherDoubt, readAs(state), 99)).toMatchObject([{ kind: 'doubted' }])
    },
  )

  it('D-18 that shows an acceptance counts even while the till cancels the offer', () => {
    expect(events({ ...active, cancelling: 'deadline' }, readAs('accepted'), 301)).toEqual([
      { kind: 'accepted', steamTradeId: '900', settlesAt: null, at: at(301) },
    ])
    expect(events(active, readAs('reverted'))).toMatchObject([{ kind: 'accepted' }])
  })

  it('changes nothing if an accepted offer with a Steam trade flips back', () => {
    const accepted = { ...active, acceptedAt: at(10), steamTradeId: '900' }
    for (const state of ['active', 'invalid_items', 'declined', 'cancelled'] as const) {
      expect(events(accepted, readAs(state))).toEqual([])
    }
    expect(events(accepted, readAs('accepted'))).toEqual([])
  })

  it('changes nothing while the offer is open', () => {
    expect(events(active, readAs('active'))).toEqual([])
  })

  it('records the Steam trade of an accepted offer if the till knew none or another one', () => {
    const withoutSteamTrade = { ...active, acceptedAt: at(10) }
    expect(events(withoutSteamTrade, readAs('accepted'))).toEqual([
      { kind: 'accepted', steamTradeId: '900', settlesAt: null, at: at(30) },
    ])
    expect(events({ ...withoutSteamTrade, steamTradeId: '899' }, readAs('reverted'))).toMatchObject([
      { kind: 'accepted', steamTradeId: '900' },
    ])
    const readWithoutSteamTrade = { kind: 'offer_read', offer: offer('accepted', { tradeId: null }) } as const
    expect(events({ ...withoutSteamTrade, steamTradeId: '900' }, readWithoutSteamTrade)).toEqual([])
    expect(events(withoutSteamTrade, readWithoutSteamTrade)).toEqual([])
    expect(events(active, readWithoutSteamTrade)).toEqual([
      { kind: 'accepted', steamTradeId: null, settlesAt: null, at: at(30) },
    ])
  })

  it('D-24 that ends the trade sets the state that belongs to the reason', () => {
    const doubted = { ...active, badEnd: { state: 'invalid', seenAt: at(0) } }
    expect(events(doubted, readAs('invalid'))).toMatchObject([
      { kind: 'ended', end: { state: 'invalid', reason: 'invalid' } },
    ])
    for (const [cancelling, state] of [
      ['deadline', 'timed_out'],
      ['store', 'timed_out'],
      ['needs_confirmation', 'invalid'],
    ] as const) {
      expect(events({ ...active, cancelling }, readAs('cancelled'))).toMatchObject([{ end: { state } }])
    }
  })

  it('of another offer changes nothing', () => {
    expect(events(active, { kind: 'offer_read', offer: offer('declined', { offerId: '6' }) })).toEqual([])
  })
})

describe('a cancel of an offer', () => {
  it('begins once, while the offer is open and not accepted', () => {
    const fact: Fact = { kind: 'cancelling', because: 'deadline' }
    expect(events(active, fact)).toEqual([{ kind: 'cancel_begun', because: 'deadline' }])
    expect(events({ ...active, cancelling: 'store' }, fact)).toEqual([])
    expect(events({ ...active, acceptedAt: at(1) }, fact)).toEqual([])
    for (const trade of [intended, sending, unknown, declined, held]) expect(events(trade, fact)).toEqual([])
  })

  it('begins when the store asks for it, but a begun cancel keeps its reason', () => {
    const fact: Fact = { kind: 'store_cancels' }
    expect(events(active, fact)).toEqual([{ kind: 'cancel_begun', because: 'store' }])
    expect(events({ ...active, cancelling: 'needs_confirmation' }, fact)).toEqual([])
    expect(events({ ...active, acceptedAt: at(1) }, fact)).toEqual([])
    for (const trade of [intended, sending, unknown, declined, held]) expect(events(trade, fact)).toEqual([])
  })

  it('begins when another trade delivers, with the deadline as its reason, but a begun cancel keeps its reason', () => {
    const fact: Fact = { kind: 'other_delivered' }
    expect(events(active, fact)).toEqual([{ kind: 'cancel_begun', because: 'deadline' }])
    expect(events({ ...active, cancelling: 'store' }, fact)).toEqual([])
    expect(events({ ...active, acceptedAt: at(1) }, fact)).toEqual([])
    for (const trade of [intended, sending, unknown, declined, held]) expect(events(trade, fact)).toEqual([])
  })
})

describe('a record of the Steam trade', () => {
  it.each<[string, Trade]>([
    ['of an active trade', active],
    ['D-6 of a declined trade', declined],
    ['D-25 of an abandoned trade', abandoned],
  ])('%s delivers it if the record is complete', (_name, trade) => {
    expect(events(trade, record())).toMatchObject([{ kind: 'delivered', offerId: '5', settlesAt: null }])
  })

  it('D-9 sets a time of settlement while the shopper can take the items back', () => {
    expect(events(active, record(), 30, { days: 8 })).toMatchObject([{ settlesAt: at(30 + 8 * 86_400) }])
    expect(events(active, record({ settlesAt: at(20) }), 30)).toMatchObject([{ settlesAt: null }])
    expect(events(active, record({ settlesAt: at(30) }), 30)).toMatchObject([{ settlesAt: null }])
  })

  it.each(['failed', 'rolled_back'] as const)(
    'that says %s before delivery counts only if read twice',
    (state) => {
      const [first] = events(active, record({ state }))
      if (first?.kind !== 'doubted') throw new Error('no doubt')
      const doubted = { ...active, badEnd: { state: first.badEnd, seenAt: at(30) } }
      expect(events(doubted, record({ state }), 40)).toMatchObject([{ kind: 'ended' }])
      expect(events(declined, record({ state }))).toEqual([])
    },
  )

  it('D-8 that shows a reversal delivers the rest, unless an item still moves or all items are back', () => {
    const back = steamTrade().received.map((asset, index) => ({
      ...asset,
      rolledBackAssetId: index ? null : '11',
    }))
    const part = record({ state: 'partly_rolled_back', received: back, settlesAt: at(700_000) })
    const accepted = { ...active, acceptedAt: at(20), steamTradeId: '900' }
    for (const trade of [accepted, declined]) {
      expect(events(trade, part, 100)).toMatchObject([
        { kind: 'delivered', settlesAt: at(700_000) },
        { kind: 'reversed', assetIds: ['11'] },
      ])
    }
    const whole = record({ state: 'rolled_back' })
    expect(events(accepted, whole, 100)).toMatchObject([{ kind: 'doubted', badEnd: 'exchange_taken_back' }])
    for (const moving of [['11'], ['12'], ['11', '12']]) {
      const received = back.map((asset) =>
        moving.includes(asset.assetId) ? { ...asset, newAssetId: null } : asset,
      )
      expect(events(declined, record({ state: 'partly_rolled_back', received }), 100)).toEqual([])
    }
  })

  it('D-9 reverses a held or final trade item by item if items were taken back', () => {
    const back = steamTrade().received.map((asset) => ({
      ...asset,
      rolledBackAssetId: asset.assetId === '11' ? '11' : null,
    }))
    expect(events(held, record({ state: 'rolled_back' }))).toEqual([
      { kind: 'reversed', assetIds: ['11', '12'], at: at(30) },
    ])
    expect(events(held, record({ state: 'partly_rolled_back', received: back }))).toEqual([
      { kind: 'reversed', assetIds: ['11'], at: at(30) },
    ])
    expect(events({ ...final, reversed: ['11'] }, record({ state: 'rolled_back' }))).toEqual([
      { kind: 'reversed', assetIds: ['12'], at: at(30) },
    ])
  })

  it('at the settlement releases the credit of the items that were not taken back', () => {
    expect(events(held, record(), 699_999)).toEqual([])
    expect(events(held, record(), 700_000)).toEqual([{ kind: 'released', at: at(700_000) }])
    expect(events(held, record({ state: 'rolled_back' }), 700_000)).toMatchObject([{ kind: 'reversed' }])
    const back = steamTrade().received.map((asset, index) => ({
      ...asset,
      rolledBackAssetId: index ? null : '11',
    }))
    const part = record({ state: 'partly_rolled_back', received: back })
    expect(events(held, part, 700_000).map((event) => event.kind)).toEqual(['reversed', 'released'])
  })

  it('that contradicts itself releases nothing', () => {
    expect(events(held, record({ state: 'partly_rolled_back' }), 700_000)).toEqual([])
    expect(events(held, record({ state: 'failed' }), 700_000)).toEqual([])
  })

  it('D-9 counts the days of protection from the acceptance, or from now if the till missed it', () => {
    const accepted = { ...active, acceptedAt: at(20), steamTradeId: '900' }
    expect(events(accepted, record(), 30, { days: 8 })).toMatchObject([{ settlesAt: at(20 + 8 * 86_400) }])
    expect(events(declined, record(), 300, { days: 8 })).toMatchObject([{ settlesAt: at(300 + 8 * 86_400) }])
  })

  it('changes nothing if it is incomplete, or read before the send is answered or after the reversal; a failed one casts a doubt', () => {
    expect(events(active, record({ state: 'pending' }))).toEqual([])
    expect(events(active, record({ state: 'partly_rolled_back' }))).toEqual([])
    expect(events(active, record({ state: 'failed' }))).toMatchObject([{ badEnd: 'exchange_failed' }])
    expect(events(intended, record())).toEqual([])
    expect(events(sending, record())).toEqual([])
    expect(events(reversed, record({ state: 'rolled_back' }))).toEqual([])
  })

  it('D-9 after a partial reversal releases the rest, or reverses it if it was taken back too', () => {
    const rest = { ...held, reversed: ['11'] }
    expect(events(rest, record({ state: 'rolled_back' }), 700_000)).toEqual([
      { kind: 'reversed', assetIds: ['12'], at: at(700_000) },
    ])
    expect(events(rest, record(), 700_000)).toEqual([{ kind: 'released', at: at(700_000) }])
  })

  it('of another Steam trade changes nothing', () => {
    expect(events(held, record({ tradeId: '901', state: 'rolled_back' }), 700_000)).toEqual([])
  })

  it('closes the trade at the last look, a day after the settlement', () => {
    expect(events(final, record(), 786_399)).toEqual([])
    expect(events(final, record(), 786_400)).toEqual([{ kind: 'looked', next: null }])
    expect(events({ ...final, lookAt: null }, record(), 786_400)).toEqual([])
  })
})
