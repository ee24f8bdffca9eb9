import { describe, expect, it } from 'vitest'
import type { Offer, OfferState, TradeStatus } from '../steam/steam.ts'
import {
  BAD_END_PAUSE_MS,
  dueAction,
  isOfferOf,
  judgeOffer,
  judgeProof,
  judgeStray,
  nextLook,
  nextReview,
  SEND_LOST_MS,
  settlementOf,
  type Trade,
} from './trade.ts'

const at = (seconds: number): Date => new Date(Date.UTC(2026, 0, 1) + seconds * 1000)

const items = [
  { appId: 730, contextId: '2', assetId: '11' },
  { appId: 730, contextId: '2', assetId: '12' },
]
const common = { tradeId: 1n, partnerSteamId: '76561198000000009', secretCode: 'K7QX2M', items }
const active: Extract<Trade, { state: 'active' }> = {
  ...common,
  state: 'active',
  offerId: '5',
  deadline: at(300),
  acceptedAt: null,
  steamTradeId: null,
  cancelling: null,
  badEnd: null,
}
const ended: Extract<Trade, { endedAt: Date }> = {
  ...common,
  state: 'declined',
  startedAt: at(0),
  offerId: '5',
  endedAt: at(200),
}
const offer = (state: OfferState): Offer => ({
  offerId: '5',
  partnerSteamId: common.partnerSteamId,
  message: common.secretCode,
  state,
  tradeId: state === 'accepted' ? '900' : null,
  itemsToReceive: items,
  createdAt: at(0),
})
const status = (change: Partial<TradeStatus> = {}): TradeStatus => ({
  tradeId: '900',
  partnerSteamId: common.partnerSteamId,
  state: 'complete',
  received: items.map((asset) => ({ ...asset, newAssetId: `9${asset.assetId}` })),
  settlesAt: null,
  rollbackOf: null,
  ...change,
})

describe('what is due', () => {
  it.each<[string, Trade, number, string]>([
    ['an intent', { ...common, state: 'intended', createdAt: at(0) }, 59, 'send'],
    ['an intent that no bot took up', { ...common, state: 'intended', createdAt: at(0) }, 60, 'give_up'],
    [
      'a send under way',
      { ...common, state: 'sending', startedAt: at(0), missedReads: 0 },
      SEND_LOST_MS / 1000 - 1,
      'nothing',
    ],
    [
      'a send whose process is lost',
      { ...common, state: 'sending', startedAt: at(0), missedReads: 0 },
      SEND_LOST_MS / 1000,
      'reconcile',
    ],
    ['an unknown offer', { ...common, state: 'unknown', startedAt: at(0), missedReads: 1 }, 1, 'reconcile'],
    ['an open offer', active, 299, 'read'],
    ['an offer at its deadline', active, 300, 'cancel'],
    ['an accepted offer past its deadline', { ...active, acceptedAt: at(299) }, 400, 'prove'],
    ['an offer being cancelled', { ...active, cancelling: 'escrow' }, 10, 'cancel'],
    [
      'a held trade before settlement',
      { ...common, state: 'held', steamTradeId: '9', settlesAt: at(9) },
      8,
      'nothing',
    ],
    [
      'a held trade at settlement',
      { ...common, state: 'held', steamTradeId: '9', settlesAt: at(9) },
      9,
      'release',
    ],
    ['a delivered trade', { ...common, state: 'final' }, 999, 'nothing'],
    ['a trade that ended without its items', ended, 300, 'review'],
    [
      'one whose intent never came to a send',
      { ...ended, state: 'refused', startedAt: null },
      300,
      'nothing',
    ],
  ])('%s', (_name, trade, seconds, due) => {
    expect(dueAction(trade, at(seconds))).toBe(due)
  })
})

describe('what a read of the offer means', () => {
  it.each<[OfferState, string]>([
    ['declined', 'tradeDeclined'],
    ['countered', 'tradeCountered'],
    ['expired', 'tradeTimeout'],
    ['cancelled_by_second_factor', 'tradeHasInvalidItems'],
  ])('%s ends as %s', (state, depositStatus) => {
    expect(judgeOffer(active, offer(state), at(10))).toMatchObject({
      kind: 'end',
      end: { status: depositStatus },
    })
  })

  it('a cancel that was ours at the deadline is a timeout, and of an escrow invalid items', () => {
    const deadline = judgeOffer({ ...active, cancelling: 'deadline' }, offer('cancelled'), at(301))
    const escrow = judgeOffer({ ...active, cancelling: 'escrow' }, offer('cancelled'), at(20))
    expect(deadline).toMatchObject({ end: { status: 'tradeTimeout', reason: 'deadline' } })
    expect(escrow).toMatchObject({ end: { status: 'tradeHasInvalidItems', reason: 'escrow' } })
  })

  it('a cancel that was not ours says so', () => {
    const verdict = judgeOffer(active, offer('cancelled'), at(20))
    expect(verdict).toMatchObject({ end: { status: 'tradeTimeout', reason: 'cancelled_elsewhere' } })
  })

  it('an escrowed offer is cancelled, not credited', () => {
    expect(judgeOffer(active, offer('in_escrow'), at(5))).toEqual({ kind: 'cancel', because: 'escrow' })
  })

  it('a bad end counts only when read again after a pause', () => {
    const first = judgeOffer(active, offer('invalid_items'), at(10))
    expect(first).toEqual({ kind: 'doubt', badEnd: 'invalid_items' })
    const doubted = { ...active, badEnd: { state: 'invalid_items', seenAt: at(10) } }
    const early = judgeOffer(
      doubted,
      offer('invalid_items'),
      new Date(at(10).getTime() + BAD_END_PAUSE_MS - 1),
    )
    expect(early).toEqual({ kind: 'nothing' })
    const late = judgeOffer(doubted, offer('invalid_items'), new Date(at(10).getTime() + BAD_END_PAUSE_MS))
    expect(late).toMatchObject({ kind: 'end', end: { status: 'tradeHasInvalidItems' } })
  })

  it('an accepted offer that flips back moves nothing', () => {
    const accepted = { ...active, acceptedAt: at(10) }
    for (const state of ['active', 'invalid_items', 'declined', 'cancelled'] as const) {
      expect(judgeOffer(accepted, offer(state), at(30))).toEqual({ kind: 'nothing' })
    }
  })
})

describe('a trade that ended without its items', () => {
  const hour = 3_600
  it('is looked at again at times that grow apart, until a day has gone by', () => {
    const seen = [0, 60, 600, hour, 6 * hour, 24 * hour - 1, 24 * hour].map((seconds) =>
      nextReview(ended, at(200 + seconds)),
    )
    expect(seen).toEqual([
      at(200 + 60),
      at(200 + 600),
      at(200 + hour),
      at(200 + 6 * hour),
      at(200 + 24 * hour),
      at(200 + 24 * hour),
      null,
    ])
  })

  it.each<[OfferState, string]>([
    ['active', 'cancel'],
    ['needs_confirmation', 'cancel'],
    ['in_escrow', 'cancel'],
    ['accepted', 'prove'],
    ['declined', 'nothing'],
    ['countered', 'nothing'],
    ['cancelled', 'nothing'],
    ['expired', 'nothing'],
    ['invalid_items', 'nothing'],
  ])('and whose offer is %s after all: %s', (state, kind) => {
    expect(judgeStray(offer(state)).kind).toBe(kind)
  })

  it('is not proved by an offer without an exchange', () => {
    expect(judgeStray({ ...offer('accepted'), tradeId: null })).toEqual({ kind: 'nothing' })
  })
})

describe('how soon Steam is asked again', () => {
  it('every 5 s at first, every minute after two', () => {
    expect(nextLook(at(0), at(119))).toEqual(at(124))
    expect(nextLook(at(0), at(120))).toEqual(at(180))
  })
})

describe('whose offer it is', () => {
  it('is told by partner and code', () => {
    expect(isOfferOf(common, offer('active'))).toBe(true)
    expect(isOfferOf(common, { ...offer('active'), message: 'K7QX2N' })).toBe(false)
    expect(isOfferOf(common, { ...offer('active'), partnerSteamId: '1' })).toBe(false)
  })
})

describe('what proves a delivery', () => {
  it.each<[string, Partial<TradeStatus>, string]>([
    ['a complete trade', {}, 'delivered'],
    ['a committed trade with every new id', { state: 'committed' }, 'delivered'],
    [
      'a committed trade without a new id',
      { state: 'committed', received: items.map((asset) => ({ ...asset, newAssetId: null })) },
      'not_yet',
    ],
    ['a trade in escrow', { state: 'in_escrow' }, 'not_yet'],
    ['a trade that was taken back', { state: 'rolled_back' }, 'rolled_back'],
    ['the trade that takes another back', { rollbackOf: '899' }, 'contradiction'],
    ['a trade with somebody else', { partnerSteamId: '1' }, 'contradiction'],
    ['a trade of fewer items', { received: status().received.slice(1) }, 'contradiction'],
  ])('%s', (_name, change, proof) => {
    expect(judgeProof(common, status(change))).toBe(proof)
  })
})

describe('when a delivery is final', () => {
  const day = 86_400
  it('is the later of the game’s days and Steam’s own time', () => {
    expect(settlementOf(status(), at(0), 8)).toEqual(at(8 * day))
    expect(settlementOf(status({ settlesAt: at(9 * day) }), at(0), 8)).toEqual(at(9 * day))
    expect(settlementOf(status({ settlesAt: at(7 * day) }), at(0), 0)).toEqual(at(7 * day))
    expect(settlementOf(status(), at(0), 0)).toBeNull()
  })
})
