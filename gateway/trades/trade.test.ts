import { describe, expect, it } from 'vitest'
import { DELIVERED_TRADE_STATES, FAILED_TRADE_STATES, RETRYABLE_TRADE_STATES } from '../db/trade-tables.ts'
import { fc, test } from '../testing/property.ts'
import {
  active,
  at,
  attempt,
  declined,
  final,
  held,
  intended,
  items,
  offer,
  oneTradePerState,
  sending,
  steamTrade,
  unknown,
} from '../testing/trades.ts'
import { decide, type Fact } from './decide.ts'
import { EDGES, evolve, isDelivered, isEnded, type Trade, type TradeEvent, type TradeState } from './trade.ts'

describe('the transitions', () => {
  it('I10 the transitions of an open or delivered trade are exactly these', () => {
    expect(EDGES).toMatchObject({
      intended: ['sending', 'refused'],
      sending: ['intended', 'unknown', 'active', 'refused', 'abandoned'],
      unknown: ['active', 'abandoned'],
      active: ['declined', 'countered', 'invalid', 'timed_out', 'held', 'final'],
      held: ['final', 'reversed'],
      final: ['held', 'reversed'],
    })
  })

  it('I10 no transition leaves a reversed trade, and other closed trades can only become held, final or reversed', () => {
    expect(EDGES.reversed).toEqual([])
    const closed = [...DELIVERED_TRADE_STATES, ...FAILED_TRADE_STATES, ...RETRYABLE_TRADE_STATES]
    for (const state of closed) {
      for (const to of EDGES[state]) expect(DELIVERED_TRADE_STATES).toContain(to)
    }
  })

  it('are tested with an example of every state', () => {
    expect(new Set(oneTradePerState.map((trade) => trade.state))).toEqual(new Set(Object.keys(EDGES)))
  })
})

it('isEnded is true of trades that ended without items, and isDelivered of trades whose items arrived', () => {
  expect(oneTradePerState.filter(isEnded).map((trade) => trade.state)).toEqual([
    'refused',
    'abandoned',
    'declined',
    'countered',
    'invalid',
    'timed_out',
  ])
  expect(oneTradePerState.filter(isDelivered).map((trade) => trade.state)).toEqual([
    'held',
    'final',
    'reversed',
  ])
})

describe('an event', () => {
  it('that does not belong to the state throws', () => {
    expect(() =>
      evolve(declined, { kind: 'accepted', steamTradeId: '1', settlesAt: null, at: at(1) }),
    ).toThrow('trade 1 is declined: accepted does not belong there')
  })

  it('of delivery keeps the time of the acceptance', () => {
    const accepted = { ...active, acceptedAt: at(30), steamTradeId: '900' }
    const event = {
      kind: 'delivered',
      offerId: '5',
      steamTrade: steamTrade(),
      settlesAt: null,
      at: at(40),
    } as const
    expect(evolve(accepted, event)).toMatchObject({
      state: 'final',
      acceptedAt: at(30),
      deliveredAt: at(40),
      lookAt: at(640),
    })
  })

  it('that ends a doubt changes nothing else, and one that withdraws an acceptance ends the doubt too', () => {
    const badEnd = { state: 'not_accepted', seenAt: at(50) }
    const doubted = { ...active, acceptedAt: at(30), settlesAt: at(700_000), badEnd }
    expect(evolve(doubted, { kind: 'doubt_ended' })).toEqual({ ...doubted, badEnd: null })
    expect(evolve(doubted, { kind: 'acceptance_withdrawn' })).toEqual(active)
  })

  const common = {
    tradeId: intended.tradeId,
    partnerSteamId: intended.partnerSteamId,
    secretCode: intended.secretCode,
    items,
  }
  const end = { state: 'invalid', status: 'tradeHasInvalidItems', reason: 'invalid_items' } as const
  const sent = { ...common, startedAt: at(0) }
  const open = {
    ...sent,
    state: 'active',
    offerId: '8',
    deadline: at(340),
    acceptedAt: null,
    steamTradeId: null,
    settlesAt: null,
    cancelling: null,
    badEnd: null,
  }
  const delivery = { ...sent, offerId: '8', steamTradeId: '900', acceptedAt: at(40), deliveredAt: at(40) }
  const heldTrade = { ...delivery, reversed: [], state: 'held', settlesAt: at(99), lookAt: at(640) }
  const endedStates: TradeState[] = ['refused', 'abandoned', 'declined', 'countered', 'invalid', 'timed_out']
  const afterReversal = { state: 'reversed', endedAt: at(40), reversed: ['11', '12'] }
  const times = { acceptedAt: at(20), deliveredAt: at(20) }
  const reversed = { ...sent, offerId: '5', steamTradeId: '900', ...times, ...afterReversal }
  const refused = {
    ...common,
    state: 'refused',
    offerId: null,
    reason: 'items_unavailable',
    refusal: 'items_gone',
    steamHoldUntil: null,
    settlesAt: null,
    endedAt: at(40),
  }
  const abandoned = {
    ...sent,
    state: 'abandoned',
    offerId: null,
    reason: 'not_found_on_steam',
    refusal: null,
    steamHoldUntil: null,
    settlesAt: null,
    endedAt: at(40),
  }
  const { settlesAt: _, ...withoutSettlement } = held
  const { endedAt: __, ...withoutEnd } = final

  it.each<[TradeEvent, Partial<Record<TradeState, object>>]>([
    [
      { kind: 'send_begun', at: at(40) },
      { intended: { ...common, state: 'sending', startedAt: at(40), missedReads: 0 } },
    ],
    [
      { kind: 'send_withdrawn', at: at(40) },
      { sending: { ...common, state: 'intended', createdAt: at(40) } },
    ],
    [{ kind: 'send_unanswered' }, { sending: { ...sent, state: 'unknown', missedReads: 0 } }],
    [
      { kind: 'offer_missed' },
      {
        sending: { ...sent, state: 'unknown', missedReads: 1 },
        unknown: { ...sent, state: 'unknown', missedReads: 1 },
      },
    ],
    [
      {
        kind: 'refused',
        reason: 'items_unavailable',
        refusal: { because: 'items_gone', bars: null, next: 'end' },
        at: at(40),
      },
      { intended: { ...refused, startedAt: null }, sending: { ...refused, startedAt: at(0) } },
    ],
    [
      { kind: 'abandoned', reason: 'not_found_on_steam', at: at(40) },
      { sending: abandoned, unknown: abandoned },
    ],
    [
      { kind: 'unwatched', because: 'bot_retired' },
      Object.fromEntries(oneTradePerState.map((trade) => [trade.state, trade])),
    ],
    [
      { kind: 'activated', offerId: '8', deadline: at(340), doubted: null },
      { sending: open, unknown: open },
    ],
    [{ kind: 'cancel_begun', because: 'store' }, { active: { ...active, cancelling: 'store' } }],
    [
      { kind: 'accepted', steamTradeId: '900', settlesAt: null, at: at(40) },
      { active: { ...active, acceptedAt: at(40), steamTradeId: '900' } },
    ],
    [
      { kind: 'doubted', badEnd: 'invalid', at: at(40) },
      { active: { ...active, badEnd: { state: 'invalid', seenAt: at(40) } } },
    ],
    [{ kind: 'doubt_ended' }, { active }],
    [{ kind: 'acceptance_withdrawn' }, { active }],
    [
      { kind: 'ended', end, steamHoldUntil: null, at: at(40) },
      {
        active: {
          ...sent,
          state: 'invalid',
          offerId: '5',
          reason: 'invalid_items',
          refusal: null,
          steamHoldUntil: null,
          settlesAt: null,
          endedAt: at(40),
        },
      },
    ],
    [
      { kind: 'delivered', offerId: '8', steamTrade: steamTrade(), settlesAt: at(99), at: at(40) },
      Object.fromEntries((['active', ...endedStates] as const).map((state) => [state, heldTrade])),
    ],
    [
      { kind: 'released', at: at(40) },
      { held: { ...withoutSettlement, state: 'final', lookAt: at(700_000 + 86_400), endedAt: at(40) } },
    ],
    [
      { kind: 'reversed', assetIds: ['11', '12'], at: at(40) },
      { held: reversed, final: reversed },
    ],
    [{ kind: 'released_early', at: at(40) }, { held }],
    [{ kind: 'prolonged', settlesAt: at(800_000) }, { held: { ...held, settlesAt: at(800_000) } }],
    [
      { kind: 'protection_found', settlesAt: at(800_000), at: at(700) },
      { final: { ...withoutEnd, state: 'held', settlesAt: at(800_000), lookAt: at(86_420) } },
    ],
    [
      { kind: 'looked', next: at(900_000) },
      { held: { ...held, lookAt: at(900_000) }, final: { ...final, lookAt: at(900_000) } },
    ],
    [
      { kind: 'looked', next: null },
      { held: { ...held, lookAt: null }, final: { ...final, lookAt: null } },
    ],
  ])('$kind gives the expected trade, and throws in every other state', (event, changed) => {
    for (const trade of oneTradePerState) {
      const expected = changed[trade.state]
      if (expected === undefined) {
        const problem = `trade 1 is ${trade.state}: ${event.kind} does not belong there`
        expect(() => evolve(trade, event)).toThrow(problem)
      } else expect(evolve(trade, event)).toEqual(expected)
    }
  })

  it('that reports a second miss increases the count, an unanswered send keeps it, and a repeated acceptance only adds what was unknown', () => {
    expect(evolve({ ...unknown, missedReads: 1 }, { kind: 'offer_missed' })).toMatchObject({ missedReads: 2 })
    expect(evolve({ ...sending, missedReads: 2 }, { kind: 'send_unanswered' })).toMatchObject({
      missedReads: 2,
    })
    const accepted = { ...active, acceptedAt: at(30), steamTradeId: '900' }
    const repeated = { kind: 'accepted', steamTradeId: null, settlesAt: null, at: at(50) } as const
    expect(evolve(accepted, repeated)).toEqual(accepted)
    const protectedUntil = { ...accepted, settlesAt: at(99) }
    expect(evolve(protectedUntil, repeated)).toEqual(protectedUntil)
    expect(evolve(accepted, { ...repeated, settlesAt: at(99) })).toEqual(protectedUntil)
  })

  it('of delivery wins, even if a restored backup says that nothing was sent', () => {
    const neverSent = { ...declined, state: 'refused', startedAt: null } as const
    const event = {
      kind: 'delivered',
      offerId: '5',
      steamTrade: steamTrade(),
      settlesAt: null,
      at: at(1),
    } as const
    expect(evolve(neverSent, event)).toMatchObject({ state: 'final', startedAt: at(1), acceptedAt: at(1) })
  })

  it('that reverses items ends the trade if all of its items are then reversed', () => {
    const part = evolve(held, { kind: 'reversed', assetIds: ['11'], at: at(50) })
    expect(part).toMatchObject({ state: 'held', reversed: ['11'] })
    expect(evolve(part, { kind: 'reversed', assetIds: ['12'], at: at(60) })).toMatchObject({
      state: 'reversed',
      reversed: ['11', '12'],
      endedAt: at(60),
    })
    expect(evolve(final, { kind: 'reversed', assetIds: ['11', '12'], at: at(60) }).state).toBe('reversed')
  })
})

const offers = fc
  .record({
    state: fc.constantFrom(
      ...(['active', 'accepted', 'countered', 'expired', 'cancelled', 'declined'] as const),
      ...(['invalid', 'invalid_items', 'needs_confirmation', 'cancelled_by_second_factor'] as const),
      ...(['in_escrow', 'reverted'] as const),
    ),
    offerId: fc.constantFrom('5', '6'),
    message: fc.constantFrom('K7QX2M', 'other'),
  })
  .map(({ state, ...change }) => offer(state, change))

const steamTrades = fc
  .record({
    state: fc.constantFrom(
      ...(['pending', 'committed', 'complete', 'failed', 'in_escrow'] as const),
      ...(['rolled_back', 'partly_rolled_back'] as const),
    ),
    back: fc.subarray(['11', '12']),
    moved: fc.boolean(),
    tradeId: fc.constantFrom('900', '901'),
    rollbackOf: fc.constantFrom(null, null, null, '900'),
  })
  .map(({ back, moved, ...change }) => {
    const received = items.map((asset) => ({
      ...asset,
      newAssetId: moved ? `9${asset.assetId}` : null,
      rolledBackAssetId: back.includes(asset.assetId) ? asset.assetId : null,
    }))
    return steamTrade({ ...change, received })
  })

const facts: fc.Arbitrary<Fact> = fc.oneof(
  fc.constantFrom<Fact>({ kind: 'no_bot_came' }, { kind: 'sending' }, { kind: 'not_sent' }),
  fc.constantFrom<Fact>(
    { kind: 'send_answered', answer: { kind: 'sent', offerId: '5' } },
    { kind: 'send_answered', answer: { kind: 'refused', reason: 'items_gone' } },
    { kind: 'send_answered', answer: { kind: 'unknown', detail: '' } },
  ),
  fc.constantFrom<Fact>(
    { kind: 'cancelling', because: 'deadline' },
    { kind: 'store_cancels' },
    { kind: 'other_delivered' },
  ),
  fc.constantFrom<Fact>(
    { kind: 'given_up', because: 'unresolved' },
    { kind: 'given_up', because: 'bot_retired' },
    { kind: 'given_up', because: 'ended_by_operator' },
  ),
  fc.constantFrom<Fact>(
    { kind: 'held_back', because: 'own_hold' },
    { kind: 'operator_credits', steamTradeId: '900', offerId: '5' },
    { kind: 'operator_releases' },
    { kind: 'operator_releases_early' },
    { kind: 'operator_reverses' },
  ),
  fc.record({
    kind: fc.constant('listed' as const),
    offers: fc.array(offers, { maxLength: 3 }),
    unclear: fc.nat(1),
  }),
  offers.map((read): Fact => ({ kind: 'offer_read', offer: read })),
  {
    // Often enough for most histories to deliver a trade, and to read several of its reversals.
    weight: 8,
    arbitrary: steamTrades.map(
      (record): Fact => ({ kind: 'steam_trade_read', offerId: '5', steamTrade: record }),
    ),
  },
)

describe('for all facts, in any order and any number of times', () => {
  // `size`: fast-check's default would make most histories short.
  const histories = fc.array(fc.tuple(facts, fc.nat(400_000), fc.boolean()), { maxLength: 40, size: 'max' })

  test.prop([fc.constantFrom(...oneTradePerState), histories])(
    'I10 a trade moves only along its transitions, and a repeated fact changes nothing but what is counted or reported again',
    (start, history) => {
      let trade: Trade = start
      let seconds = 0
      for (const [fact, pause, isWanted] of history) {
        seconds += pause
        const context = { now: at(seconds), protectionDays: 8, isWanted, attempt }
        for (const event of decide(trade, fact, context)) {
          const next = evolve(trade, event)
          if (next.state !== trade.state) expect(EDGES[trade.state]).toContain(next.state)
          trade = next
        }
        const repeated = decide(trade, fact, context).map((event) => event.kind)
        // A list without the offer counts each time. The end of reviews, and an early release that changes no state, may
        // be reported again.
        const counted = ['offer_missed', 'abandoned', 'unwatched', 'released_early']
        expect(repeated.filter((kind) => !counted.includes(kind))).toEqual([])
      }
    },
  )

  test.prop([histories])('I6 a trade is delivered at most once, and no item goes back twice', (history) => {
    let trade: Trade = active
    let seconds = 0
    let deliveries = 0
    const back: string[] = []
    for (const [fact, pause, isWanted] of history) {
      seconds += pause
      for (const event of decide(trade, fact, { now: at(seconds), protectionDays: 8, isWanted, attempt })) {
        if (event.kind === 'delivered') deliveries += 1
        if (event.kind === 'reversed') back.push(...event.assetIds)
        trade = evolve(trade, event)
      }
    }
    expect(deliveries).toBeLessThanOrEqual(1)
    expect(new Set(back).size).toBe(back.length)
    expect(isDelivered(trade)).toBe(deliveries === 1)
  })
})
