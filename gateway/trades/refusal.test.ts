import { describe, expect, it } from 'vitest'
import type { RefusalCause } from '../../contract/errors.ts'
import type { Refusal } from '../db/trade-tables.ts'
import { at, attempt } from '../testing/trades.ts'
import { causeOf, isOfBotOrPair, judgeRefusal } from './refusal.ts'

const verdictOn = (refusal: Refusal, change: Partial<typeof attempt> = {}, seconds = 1) =>
  judgeRefusal(refusal, { ...attempt, ...change }, at(seconds))

describe('D-30 the side that caused a refusal', () => {
  it.each<[Refusal, string]>([
    ['invalid_token', 'trade_refused'],
    ['partner_cannot_trade', 'trade_refused'],
    ['partner_trade_ban', 'trade_refused'],
    ['partner_hold', 'trade_hold'],
    ['items_gone', 'items_unavailable'],
    ['item_server_down', 'steam_unavailable'],
  ])('%s is not caused by the bot: the shopper gets %s, and no other bot is asked', (refusal, code) => {
    expect(verdictOn(refusal)).toEqual({ code, bars: null, next: 'end' })
    expect(isOfBotOrPair(refusal)).toBe(false)
  })

  it.each<Refusal>(['bot_cannot_trade', 'own_hold', 'too_many_in_all', 'inventory_full', 'rate_limited'])(
    '%s bars the bot, and another bot tries',
    (refusal) => {
      expect(verdictOn(refusal)).toEqual({ code: 'no_bot_available', bars: refusal, next: 'move' })
      expect(isOfBotOrPair(refusal)).toBe(true)
    },
  )

  it.each<Refusal>(['too_many_to_partner', 'session_dead'])(
    '%s bars no bot, and another bot tries',
    (refusal) => {
      expect(verdictOn(refusal)).toEqual({ code: 'no_bot_available', bars: null, next: 'move' })
      expect(isOfBotOrPair(refusal)).toBe(true)
    },
  )

  it.each<Refusal>(['access_denied', 'renamed', 'too_many_offers'])(
    '%s lets one other bot try; if that bot is refused too, the request ends, and no bot is barred',
    (refusal) => {
      expect(verdictOn(refusal).next).toBe('move_in_doubt')
      expect(verdictOn(refusal, { tried: [1n], doubted: 1n })).toMatchObject({ bars: null, next: 'end' })
      expect(isOfBotOrPair(refusal)).toBe(false)
    },
  )
})

it.each<[Refusal, RefusalCause | undefined]>([
  ['invalid_token', 'link_expired'],
  ['partner_cannot_trade', 'account_restricted'],
  ['partner_trade_ban', 'trade_ban'],
  ['access_denied', undefined],
  ['renamed', undefined],
  ['partner_hold', undefined],
  ['own_hold', undefined],
])('D-17 after %s the shopper gets the cause %s', (refusal, cause) => {
  expect(causeOf(refusal)).toBe(cause)
})

describe('D-30 a refused request moves to another bot', () => {
  it('until four bots have tried it', () => {
    expect(verdictOn('own_hold', { tried: [1n, 2n] }).next).toBe('move')
    expect(verdictOn('own_hold', { tried: [1n, 2n, 3n] })).toMatchObject({ bars: 'own_hold', next: 'end' })
  })

  it('for at most a minute, during which the shopper waits', () => {
    expect(verdictOn('own_hold', {}, 59).next).toBe('move')
    expect(verdictOn('own_hold', {}, 60)).toMatchObject({ bars: 'own_hold', next: 'end' })
  })
})
