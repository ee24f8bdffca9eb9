import { describe, expect, it } from 'vitest'
import type { OfferState } from '../steam/steam.ts'
import { active, items, offer } from '../testing/trades.ts'
import { isExactOfferOf, isLikeOurs, isOfferOf, isVagueOfferOf, judgeStray, unclearRows } from './stray.ts'

describe('an offer that no trade waits for', () => {
  it.each<[OfferState, string]>([
    ['active', 'cancel'],
    ['needs_confirmation', 'cancel'],
    ['in_escrow', 'nothing'],
    ['accepted', 'prove'],
    ['reverted', 'prove'],
    ['declined', 'nothing'],
    ['countered', 'nothing'],
    ['cancelled', 'nothing'],
    ['cancelled_by_second_factor', 'nothing'],
    ['expired', 'nothing'],
    ['invalid', 'nothing'],
    ['invalid_items', 'nothing'],
  ])('in the state %s has the verdict: %s', (state, kind) => {
    expect(judgeStray(offer(state)).kind).toBe(kind)
  })

  it.each(['accepted', 'reverted'] as const)(
    'that is %s is read again until Steam names its trade',
    (state) => {
      expect(judgeStray(offer(state, { tradeId: null }))).toEqual({ kind: 'ask_again' })
    },
  )
})

describe('the trade of an offer', () => {
  it('is found by partner and code', () => {
    expect(isOfferOf(active, offer('active'))).toBe(true)
    expect(isOfferOf(active, offer('active', { message: 'K7QX2N' }))).toBe(false)
    expect(isOfferOf(active, offer('active', { partnerSteamId: '1' }))).toBe(false)
    expect(isOfferOf(active, offer('active', { itemsToReceive: items.slice(1) }))).toBe(true)
  })
})

describe('an offer that looks like a till’s', () => {
  it('has a code as its message, and gives nothing', () => {
    expect(isLikeOurs(offer('active', { message: 'K7QX2N' }))).toBe(true)
    expect(isLikeOurs(offer('active', { message: 'K7QX2N', itemsToGive: items.slice(0, 1) }))).toBe(false)
  })

  it.each(['', 'K7QX2', 'K7QX2NA', 'k7qx2n', 'K7QX20', 'K7QX2I', 'K7QX2N.', ' K7QX2N', 'thanks'])(
    'does not have the message %j',
    (message) => {
      expect(isLikeOurs(offer('active', { message }))).toBe(false)
    },
  )
})

describe('the exact offer of a trade', () => {
  it('has the partner, code and item set of the trade, and gives nothing', () => {
    expect(isExactOfferOf(active, offer('active'))).toBe(true)
    expect(isExactOfferOf(active, offer('active', { itemsToReceive: [...items].reverse() }))).toBe(true)
    for (const change of [
      { message: 'K7QX2N' },
      { partnerSteamId: '1' },
      { itemsToReceive: items.slice(1) },
      { itemsToReceive: [] },
      { itemsToGive: [{ appId: 730, contextId: '2', assetId: '99' }] },
    ]) {
      expect(isExactOfferOf(active, offer('active', change))).toBe(false)
    }
  })
})

describe('a row of a list that may be the offer of a trade', () => {
  const stranger = { partnerSteamId: '1' }
  const unreadable = { offerId: null, partnerSteamId: null, message: null }

  it('lacks the items or the message, and otherwise fits', () => {
    for (const change of [
      { itemsToReceive: [] },
      { message: '' },
      { message: '', itemsToReceive: [] },
      { message: '', itemsToReceive: [...items].reverse() },
    ]) {
      expect(isVagueOfferOf(active, offer('active', change))).toBe(true)
      expect(isVagueOfferOf(active, offer('active', { ...change, ...stranger }))).toBe(false)
      expect(isVagueOfferOf(active, offer('active', { ...change, itemsToGive: items.slice(1) }))).toBe(false)
    }
  })

  it('is neither the trade’s complete offer nor an offer with another code or other items', () => {
    for (const change of [
      {},
      { message: 'K7QX2N', itemsToReceive: [] },
      { message: '', itemsToReceive: items.slice(1) },
    ]) {
      expect(isVagueOfferOf(active, offer('active', change))).toBe(false)
    }
  })

  it('can be any unreadable row, except one with a readable partner or message of another trade', () => {
    const { partnerSteamId, secretCode } = active
    const possible = [
      unreadable,
      { ...unreadable, partnerSteamId },
      { ...unreadable, message: secretCode },
      { offerId: '6', partnerSteamId, message: secretCode },
    ]
    const others = [
      { ...unreadable, ...stranger },
      { ...unreadable, message: 'K7QX2N' },
      { ...unreadable, partnerSteamId, message: 'K7QX2N' },
    ]
    const vague = offer('active', { message: '' })
    expect(
      unclearRows(active, { offers: [offer('active'), vague], unreadable: [...others, ...possible] }),
    ).toEqual([vague, ...possible])
  })
})
