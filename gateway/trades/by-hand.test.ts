import { describe, expect, it } from 'vitest'
import {
  abandoned,
  active,
  at,
  attempt,
  declined,
  final,
  held,
  intended,
  unknown,
} from '../testing/trades.ts'
import { decide, type Fact } from './decide.ts'
import { waitsUntil } from './giving-up.ts'
import { evolve, type Trade } from './trade.ts'

const DAY_S = 86_400

const eventsOf = (trade: Trade, fact: Fact, seconds = 30) =>
  decide(trade, fact, { now: at(seconds), protectionDays: 8, isWanted: true, attempt })

const credit = (steamTradeId = '900', offerId: string | null = null): Fact => ({
  kind: 'operator_credits',
  steamTradeId,
  offerId,
})

describe('an operator credits', () => {
  it('exactly the items of the trade, with a protection that begins now', () => {
    const [event] = eventsOf(active, credit())
    expect(event).toMatchObject({
      kind: 'delivered',
      offerId: '5',
      byOperator: true,
      settlesAt: at(30 + 8 * DAY_S),
      steamTrade: { tradeId: '900', received: active.items.map(({ assetId }) => ({ assetId })) },
    })
  })

  it('even an ended trade or, by naming its offer, a trade whose send got no answer', () => {
    expect(eventsOf(declined, credit()).map(({ kind }) => kind)).toEqual(['delivered'])
    expect(eventsOf(unknown, credit())).toEqual([])
    expect(eventsOf(unknown, credit('900', '5')).map(({ kind }) => kind)).toEqual(['abandoned', 'delivered'])
  })

  it('with the protection that its accepted offer stated, even if the trade ended since, but not one that is over', () => {
    const accepted: Trade = { ...active, acceptedAt: at(20), steamTradeId: '900', settlesAt: at(900_000) }
    const [ended] = eventsOf(accepted, { kind: 'given_up', because: 'bot_retired' })
    if (ended === undefined) throw new Error('the trade has not ended')
    const settlementAt = (trade: Trade, seconds: number) =>
      eventsOf(trade, credit(), seconds).map((event) => event.kind === 'delivered' && event.settlesAt)
    for (const trade of [accepted, evolve(accepted, ended)]) {
      expect(settlementAt(trade, 30)).toEqual([at(900_000)])
      expect(settlementAt(trade, 900_000)).toEqual([at(900_000 + 8 * DAY_S)])
      const unprotected = { now: at(900_000), protectionDays: 0, isWanted: true, attempt }
      expect(decide(trade, credit(), unprotected)).toMatchObject([{ settlesAt: null }])
    }
  })

  it('nothing twice, nothing that was not sent, and nothing for another Steam trade or offer than the known one', () => {
    for (const trade of [held, final, intended]) expect(eventsOf(trade, credit())).toEqual([])
    expect(eventsOf({ ...active, acceptedAt: at(1), steamTradeId: '901' }, credit())).toEqual([])
    expect(eventsOf(active, credit('900', '6'))).toEqual([])
  })
})

describe('an operator releases', () => {
  const settledS = (Number(held.settlesAt) - Number(at(0))) / 1_000

  it('held credit a day after the trade’s settlement, and no earlier', () => {
    const release: Fact = { kind: 'operator_releases' }
    expect(eventsOf(held, release, settledS + DAY_S - 1)).toEqual([])
    const events = eventsOf(held, release, settledS + DAY_S)
    expect(events.map(({ kind }) => kind)).toEqual(['released', 'looked'])
    expect(eventsOf(final, release, settledS + DAY_S)).toEqual([])
  })
})

describe('the till waits for Steam’s answer', () => {
  const givenUp = (because: 'unresolved' | 'bot_retired' | 'ended_by_operator'): Fact => ({
    kind: 'given_up',
    because,
  })

  it('until 15 days after the send, about an open offer and about an unknown send', () => {
    for (const trade of [active, unknown]) {
      expect(waitsUntil(trade)).toEqual(at(15 * DAY_S))
      expect(eventsOf(trade, givenUp('unresolved'), 15 * DAY_S - 1)).toEqual([])
      expect(eventsOf(trade, givenUp('unresolved'), 15 * DAY_S)).toMatchObject([{ at: at(15 * DAY_S) }])
    }
  })

  it('until a day after Steam’s hold should have ended, if that is later', () => {
    const hold = (days: number): Trade => ({ ...declined, steamHoldUntil: at(days * DAY_S) })
    expect(waitsUntil(hold(3))).toEqual(at(15 * DAY_S))
    expect(waitsUntil(hold(20))).toEqual(at(21 * DAY_S))
    expect(eventsOf(hold(20), givenUp('unresolved'), 21 * DAY_S)).toMatchObject([{ kind: 'hold_ended' }])
  })

  it('until the last review of an ended trade', () => {
    const ended: Trade = { ...abandoned, endedAt: at(15 * DAY_S) }
    expect(waitsUntil(ended)).toEqual(at(16 * DAY_S))
    expect(eventsOf(ended, givenUp('unresolved'), 16 * DAY_S)).toEqual([
      { kind: 'unwatched', because: 'unresolved' },
    ])
  })

  it('no longer once the bot is retired', () => {
    expect(eventsOf(active, givenUp('bot_retired'))).toMatchObject([
      { kind: 'ended', end: { status: 'tradeTimeout', reason: 'bot_retired' } },
    ])
    expect(eventsOf(intended, givenUp('bot_retired'))).toMatchObject([{ kind: 'refused' }])
    for (const trade of [held, declined]) {
      expect(eventsOf(trade, givenUp('bot_retired'))).toEqual([{ kind: 'unwatched', because: 'bot_retired' }])
    }
  })
})
