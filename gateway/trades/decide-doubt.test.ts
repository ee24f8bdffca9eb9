import { describe, expect, it } from 'vitest'
import type { OfferState } from '../steam/steam.ts'
import { active, at, attempt, offer, steamTrade } from '../testing/trades.ts'
import { decide, type Fact } from './decide.ts'
import { evolve, type TradeEvent, type TradeIn } from './trade.ts'

type Active = TradeIn<'active'>

const context = (seconds: number) => ({ now: at(seconds), protectionDays: 0, isWanted: true, attempt })
const readAs = (state: OfferState, steamTradeId: string | null = null): Fact => ({
  kind: 'offer_read',
  offer: offer(state, { tradeId: steamTradeId }),
})
const recordAs = (state: 'failed' | 'pending'): Fact => ({
  kind: 'steam_trade_read',
  offerId: '5',
  steamTrade: steamTrade({ state }),
})

/** Reads these facts, one at each of these seconds. Returns the last events, and the trade before them. */
function readInTurn(
  first: Active,
  reads: readonly [number, Fact][],
): { before: Active; events: TradeEvent[] } {
  let before = first
  let events: TradeEvent[] = []
  for (const [seconds, fact] of reads) {
    const after = events.reduce(evolve, before)
    if (after.state !== 'active') throw new Error(`the trade is ${after.state}`)
    before = after
    events = decide(before, fact, context(seconds))
  }
  return { before, events }
}

describe('a bad end that Steam reported once', () => {
  it.each(['invalid', 'invalid_items'] as const)(
    'D-18 as %s is forgotten if the offer is open again, so one more report does not end the trade',
    (state) => {
      const reads: [number, Fact][] = [
        [30, readAs(state)],
        [35, readAs('active')],
        [45, readAs(state)],
      ]
      expect(readInTurn(active, reads).events).toEqual([{ kind: 'doubted', badEnd: state, at: at(45) }])
      const confirmed = readInTurn(active, [...reads, [55, readAs(state)]])
      expect(confirmed.events).toMatchObject([{ kind: 'ended', end: { reason: state } }])
    },
  )

  it('in the record of a Steam trade is forgotten if the record then shows the items on their way', () => {
    const accepted = { ...active, acceptedAt: at(10), steamTradeId: '900' }
    const { events } = readInTurn(accepted, [
      [30, recordAs('failed')],
      [35, recordAs('pending')],
      [45, recordAs('failed')],
    ])
    expect(events).toMatchObject([{ kind: 'doubted', badEnd: 'exchange_failed' }])
  })

  it('is forgotten when the offer is accepted', () => {
    const { before } = readInTurn(active, [
      [30, readAs('invalid_items')],
      [35, readAs('accepted', '900')],
      [40, readAs('active')],
    ])
    expect(before).toMatchObject({ acceptedAt: at(35), badEnd: null })
  })
})

describe('an acceptance without a Steam trade', () => {
  const accepted = { ...active, acceptedAt: at(20) }
  const withdrawn = { kind: 'acceptance_withdrawn' }

  it.each<[OfferState, object[]]>([
    ['active', [withdrawn]],
    ['declined', [withdrawn, { kind: 'ended', end: { reason: 'declined' } }]],
    ['cancelled', [withdrawn, { kind: 'ended', end: { reason: 'cancelled_elsewhere' } }]],
    ['expired', [withdrawn, { kind: 'ended', end: { reason: 'expired' } }]],
    ['in_escrow', [withdrawn, { kind: 'ended', end: { reason: 'escrow' } }]],
    ['invalid_items', [withdrawn, { kind: 'doubted', badEnd: 'invalid_items' }]],
  ])('is withdrawn if the offer is %s for a minute', (state, events) => {
    const first: [number, Fact] = [30, readAs(state)]
    expect(readInTurn(accepted, [first]).events).toEqual([
      { kind: 'doubted', badEnd: 'not_accepted', at: at(30) },
    ])
    expect(readInTurn(accepted, [first, [89, readAs(state)]]).events).toEqual([])
    expect(readInTurn(accepted, [first, [90, readAs(state)]]).events).toMatchObject(events)
  })

  it('is kept if Steam repeats it within the minute', () => {
    const { before, events } = readInTurn(accepted, [
      [30, readAs('active')],
      [60, readAs('accepted')],
      [95, readAs('active')],
    ])
    expect(before.acceptedAt).toEqual(at(20))
    expect(events).toEqual([{ kind: 'doubted', badEnd: 'not_accepted', at: at(95) }])
  })

  it('that was withdrawn counts again if Steam repeats it', () => {
    const { events } = readInTurn(accepted, [
      [30, readAs('active')],
      [90, readAs('active')],
      [95, readAs('accepted', '900')],
    ])
    expect(events).toMatchObject([{ kind: 'accepted', steamTradeId: '900', at: at(95) }])
  })
})

it('a trade whose accepted offer had a Steam trade ends with the reason escrow if the offer enters escrow', () => {
  const accepted = { ...active, acceptedAt: at(10), steamTradeId: '900' }
  const { events } = readInTurn(accepted, [
    [20, recordAs('pending')],
    [30, readAs('in_escrow', '900')],
  ])
  expect(events).toMatchObject([{ kind: 'ended', end: { reason: 'escrow' } }])
})
