import { describe, expect, it } from 'vitest'
import {
  abandoned,
  active,
  at,
  declined,
  final,
  held,
  intended,
  reversed,
  sending,
  unknown,
} from '../testing/trades.ts'
import { alarm, dueStep, laneOf, nextAsk, nextReview, readOnAt, retryAt, reviewAgainAt } from './alarm.ts'
import type { Trade } from './trade.ts'

// The seconds are those of `testing/trades.ts`: an offer's deadline is 300, the settlement of a held trade 700,000, and
// the last look at a final trade 786,400.

describe('the step that is due', () => {
  it.each<[string, string, Trade, number]>([
    ['an intent', 'send', intended, 59],
    ['an intent that no bot took up', 'refuse', intended, 60],
    ['a send under way', 'nothing', sending, 19],
    ['a send whose process is lost', 'reconcile', sending, 20],
    ['an unknown offer', 'reconcile', unknown, 1],
    ['an open offer', 'read', active, 299],
    ['an offer at its deadline', 'cancel', active, 300],
    ['an offer that is being cancelled', 'cancel', { ...active, cancelling: 'store' }, 10],
    ['an accepted offer past its deadline', 'read', { ...active, acceptedAt: at(299) }, 400],
    [
      'an accepted offer whose Steam trade is known',
      'prove',
      { ...active, acceptedAt: at(9), steamTradeId: '900' },
      400,
    ],
    ['a trade that ended without its items', 'review', declined, 300],
    [
      'a trade that ended without being sent',
      'nothing',
      { ...declined, state: 'refused', startedAt: null },
      300,
    ],
    ['a held trade before settlement', 'nothing', held, 699_999],
    ['a held trade at settlement', 'settle', held, 700_000],
    ['a held trade before its next look', 'nothing', { ...held, lookAt: at(600) }, 599],
    ['a held trade at its next look', 'look_again', { ...held, lookAt: at(600) }, 600],
    ['a trade whose items Steam holds', 'review', { ...declined, steamHoldUntil: at(900) }, 300],
    ['a final trade before its last look', 'nothing', final, 786_399],
    ['a final trade at its last look', 'look_again', final, 786_400],
    ['a final trade without a look left', 'nothing', { ...final, lookAt: null }, 999_999],
    ['a reversed trade', 'nothing', reversed, 999_999],
  ])('for %s is: %s', (_name, step, trade, seconds) => {
    expect(dueStep(trade, at(seconds))).toBe(step)
  })

  it('has a lane, so a new offer waits neither for a read nor for a review', () => {
    const lane = (trade: Trade, seconds: number) => laneOf(dueStep(trade, at(seconds)))
    expect(lane(intended, 1)).toBe('sends')
    expect(lane(intended, 60)).toBe('sends')
    expect(lane(active, 300)).toBe('cancels')
    expect(lane(active, 10)).toBe('reads')
    expect(lane(unknown, 1)).toBe('reads')
    expect(lane({ ...active, acceptedAt: at(9), steamTradeId: '900' }, 10)).toBe('reads')
    expect(lane(held, 700_000)).toBe('settling')
    expect(lane(final, 786_400)).toBe('settling')
    expect(lane(declined, 300)).toBe('reviews')
    expect(lane(reversed, 300)).toBeUndefined()
  })

  it('D-28 cancels no offer at its deadline while Steam is down, but continues a cancel for the store', () => {
    expect(dueStep(active, at(900), { isSteamDown: true })).toBe('read')
    expect(dueStep({ ...active, cancelling: 'store' }, at(10), { isSteamDown: true })).toBe('cancel')
  })
})

describe('a trade that ended without its items', () => {
  const endedStates = ['refused', 'abandoned', 'declined', 'countered', 'invalid', 'timed_out'] as const
  it.each(endedStates)('is reviewed: %s', (state) => {
    const trade = { ...declined, state }
    expect(dueStep(trade, at(201))).toBe('review')
    expect(alarm(trade, at(201))).toEqual(at(260))
    expect(retryAt(trade, at(201))).toEqual(at(261))
    expect(alarm({ ...trade, startedAt: null }, at(201))).toBeNull()
  })
})

describe('the time to ask Steam again', () => {
  it('is the alarm of a trade that has not ended', () => {
    expect(retryAt(active, at(10))).toEqual(at(300))
    expect(retryAt(held, at(700_000))).toEqual(at(700_060))
  })
})

describe('the alarm', () => {
  it.each<[string, Trade, number, number | null]>([
    ['an intent: in 5 seconds', intended, 10, 15],
    ['a send: 5 seconds after it counts as lost', sending, 10, 25],
    ['a lost send: in 5 seconds', sending, 30, 35],
    ['a send from more than two minutes ago: in a minute', sending, 130, 190],
    ['an unknown offer: in 5 seconds', unknown, 10, 15],
    ['an unknown offer after a miss: in 15 seconds', { ...unknown, missedReads: 1 }, 10, 25],
    ['an open offer: at its deadline', active, 10, 300],
    ['an open offer past its deadline: in 5 seconds', active, 301, 306],
    ['an accepted offer: in 5 seconds', { ...active, acceptedAt: at(10) }, 20, 25],
    ['an offer accepted two minutes ago: in a minute', { ...active, acceptedAt: at(10) }, 130, 190],
    [
      'a bad end: once it can be confirmed',
      { ...active, badEnd: { state: 'invalid', seenAt: at(9) } },
      10,
      21,
    ],
    [
      'an accepted offer with a bad end that is unconfirmed after a day: in an hour',
      { ...active, badEnd: { state: 'exchange_failed', seenAt: at(9) }, acceptedAt: at(9) },
      90_000,
      93_600,
    ],
    ['an ended trade: a minute after its end', declined, 200, 260],
    ['an ended trade after its first review: ten minutes after its end', abandoned, 120, 660],
    ['a trade that ended a day ago: never', declined, 200 + 86_400, null],
    ['a held trade: at its settlement', held, 100, 700_000],
    ['a held trade past its settlement: in a minute', held, 700_001, 700_061],
    ['a held trade with an earlier look: at that look', { ...held, lookAt: at(600) }, 100, 600],
    ['a held trade with a later look: at its settlement', { ...held, lookAt: at(800_000) }, 100, 700_000],
    ['a final trade: at its last look', final, 700_001, 786_400],
    ['an open offer at its deadline: in 5 seconds', active, 300, 305],
    [
      'an offer that is being cancelled before its deadline: in 5 seconds',
      { ...active, cancelling: 'store' },
      10,
      15,
    ],
    [
      'an offer that is being cancelled after its deadline: in 5 seconds',
      { ...active, cancelling: 'store' },
      301,
      306,
    ],
    [
      'an offer that is still being cancelled minutes later: in a minute',
      { ...active, cancelling: 'store' },
      500,
      560,
    ],
    ['a held trade at its settlement: in a minute', held, 700_000, 700_060],
    ['a final trade at its last look: in a minute', final, 786_400, 786_460],
    ['a final trade past its last look: in a minute', final, 786_500, 786_560],
    ['a final trade without a look left: never', { ...final, lookAt: null }, 786_400, null],
    ['a reversed trade: never', reversed, 1, null],
  ])('of %s', (_name, trade, seconds, next) => {
    expect(alarm(trade, at(seconds))).toEqual(next === null ? null : at(next))
  })

  it('of an ended trade comes for a day, at growing intervals', () => {
    const hour = 3_600
    const reviews = [0, 60, 600, hour, 6 * hour, 24 * hour - 1, 24 * hour].map((seconds) =>
      nextReview(declined, at(200 + seconds)),
    )
    const times = [60, 600, hour, 6 * hour, 24 * hour, 24 * hour].map((seconds) => at(200 + seconds))
    expect(reviews).toEqual([...times, null])
  })

  it.each([
    ['every 5 seconds in the first two minutes', 119, 5],
    ['every minute after two minutes', 120, 60],
    ['every minute until an hour has passed', 3_599, 60],
    ['every 5 minutes after an hour', 3_600, 300],
    ['every hour after a day', 86_400, 3_600],
  ])('for an awaited answer comes %s, and not before a given minimum wait', (_name, waitedS, pauseS) => {
    expect(nextAsk(at(0), at(waitedS))).toEqual(at(waitedS + pauseS))
    expect(nextAsk(at(0), at(waitedS), 60_000)).toEqual(at(waitedS + Math.max(pauseS, 60)))
  })

  const day = 86_400
  it.each<[string, Trade, number]>([
    ['a lost send', sending, day],
    ['an unknown send', unknown, day],
    ['an open offer that cannot be read', active, 300 + day],
    ['an accepted offer without proof', { ...active, acceptedAt: at(10) }, 10 + day],
    ['a held trade past its settlement', held, 700_000 + day],
    ['a final trade past its last look', final, 786_400 + day],
  ])('comes every hour after Steam has not answered for a day: %s', (_name, trade, seconds) => {
    expect(alarm(trade, at(seconds))).toEqual(at(seconds + 3_600))
  })

  it('of an ended trade without an answer comes every hour after a day, until its offer is over and Steam holds no items', () => {
    const inHold = { ...declined, steamHoldUntil: at(15 * day) }
    for (const ended of [declined, inHold]) {
      expect(reviewAgainAt(ended, at(200 + 60))).toEqual(at(200 + 120))
      expect(reviewAgainAt(ended, at(200 + 2 * day))).toEqual(at(200 + 2 * day + 3_600))
      expect(retryAt(ended, at(200 + 2 * day))).toEqual(at(200 + 2 * day + 3_600))
    }
    expect(reviewAgainAt(declined, at(16 * day))).toBeNull()
    expect(reviewAgainAt({ ...declined, state: 'refused', startedAt: null }, at(201))).toBeNull()
    expect(reviewAgainAt(inHold, at(16 * day))).toEqual(at(16 * day + 3_600))
  })

  it('of a trade that ended after its offer’s life is the next planned one, even without an answer', () => {
    const givenUp = { ...declined, endedAt: at(16 * day) }
    expect(reviewAgainAt(givenUp, at(16 * day + 60))).toEqual(at(16 * day + 600))
    expect(reviewAgainAt(givenUp, at(17 * day))).toBeNull()
  })

  it('of a trade whose items Steam holds comes every six hours, at the end of the hold, and then every hour', () => {
    const hour = 3_600
    const waiting = { ...declined, steamHoldUntil: at(15 * day) }
    expect(alarm(waiting, at(day))).toEqual(at(day + 6 * hour))
    expect(alarm(waiting, at(15 * day - 6 * hour - 1))).toEqual(at(15 * day - 1))
    expect(alarm(waiting, at(15 * day - hour))).toEqual(at(15 * day))
    expect(alarm(waiting, at(15 * day - 1))).toEqual(at(15 * day))
    expect(alarm(waiting, at(15 * day))).toEqual(at(15 * day + hour))
    expect(alarm(waiting, at(16 * day))).toEqual(at(16 * day + hour))
  })
})

it('the next pages of a list are read in a minute or at an earlier alarm, but not without an alarm', () => {
  expect(readOnAt(at(200), at(100))).toEqual(at(160))
  expect(readOnAt(at(159), at(100))).toEqual(at(159))
  expect(readOnAt(null, at(100))).toBeNull()
})
