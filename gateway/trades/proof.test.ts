import { describe, expect, it } from 'vitest'
import type { SteamTrade } from '../steam/steam.ts'
import { active, at, items, offer, steamTrade } from '../testing/trades.ts'
import { judgeSteamTrade, later, offeredSettlement, sameAssets, settlementOf } from './proof.ts'

const marked = (...ids: string[]) =>
  steamTrade().received.map((asset) => ({
    ...asset,
    rolledBackAssetId: ids.includes(asset.assetId) ? asset.assetId : null,
  }))
const unmoved = items.map((asset) => ({ ...asset, newAssetId: null, rolledBackAssetId: null }))

describe('the verdict on Steam’s record of a trade', () => {
  it.each<[string, string, Partial<SteamTrade>]>([
    ['D-8 a complete record', 'delivered', {}],
    ['D-8 a complete record without the new ids', 'delivered', { received: unmoved }],
    ['D-8 a committed record with every new id', 'delivered', { state: 'committed' }],
    ['D-8 a committed record without the new ids', 'not_yet', { state: 'committed', received: unmoved }],
    ['a pending record', 'not_yet', { state: 'pending' }],
    ['a record in escrow', 'not_yet', { state: 'in_escrow' }],
    ['a failed record', 'failed', { state: 'failed' }],
    ['a record that Steam gave up undoing', 'contradiction', { state: 'abandoned' }],
    ['a record that takes another trade back', 'contradiction', { rollbackOf: '899' }],
    [
      'D-8 a committed record with some of the new ids',
      'not_yet',
      { state: 'committed', received: [...unmoved.slice(1), ...steamTrade().received.slice(0, 1)] },
    ],
    [
      'a record with the right number of items, but one wrong item',
      'contradiction',
      {
        received: steamTrade().received.map((asset, index) =>
          index === 0 ? { ...asset, assetId: '13' } : asset,
        ),
      },
    ],
    [
      'a record with one item twice',
      'contradiction',
      { received: steamTrade().received.map((asset) => ({ ...asset, assetId: '11' })) },
    ],
    ['a record with another partner', 'contradiction', { partnerSteamId: '1' }],
    ['a record with fewer items', 'contradiction', { received: steamTrade().received.slice(1) }],
    ['a record taken back in part without a marked item', 'contradiction', { state: 'partly_rolled_back' }],
  ])('%s: %s', (_name, proof, change) => {
    expect(judgeSteamTrade(active, steamTrade(change)).kind).toBe(proof)
  })

  it.each<[string, Partial<SteamTrade>, string[]]>([
    ['all of it', { state: 'rolled_back' }, ['11', '12']],
    ['all of it, marked', { state: 'rolled_back', received: marked('11', '12') }, ['11', '12']],
    ['all of it, marked in part', { state: 'rolled_back', received: marked('12') }, ['11', '12']],
    ['one item by Steam’s support', { state: 'partly_rolled_back', received: marked('11') }, ['11']],
  ])('D-9 taken back: %s', (_name, change, assetIds) => {
    expect(judgeSteamTrade(active, steamTrade(change))).toEqual({ kind: 'taken_back', assetIds })
  })
})

describe('equal lists of assets', () => {
  it('have the same length, and contain each asset once', () => {
    const [one, other] = items
    if (one === undefined || other === undefined) throw new Error('two items are needed')
    expect(sameAssets([one, other], [other, one])).toBe(true)
    expect(sameAssets([one, one], [one, one])).toBe(false)
    expect(sameAssets([one, other], [one, one])).toBe(false)
    expect(sameAssets([one, one], [one, other])).toBe(false)
    expect(sameAssets([one], [one, other])).toBe(false)
    expect(sameAssets([one, other, one], [one, other])).toBe(false)
    expect(sameAssets([{ ...one, contextId: '16' }, other], [one, other])).toBe(false)
  })
})

describe('the time when a delivery is final', () => {
  const day = 86_400
  it('D-9 the time is the end of the game’s protection or Steam’s own later time, or null without either', () => {
    expect(settlementOf(steamTrade(), at(0), 8)).toEqual(at(8 * day))
    expect(settlementOf(steamTrade({ settlesAt: at(9 * day) }), at(0), 8)).toEqual(at(9 * day))
    expect(settlementOf(steamTrade({ settlesAt: at(7 * day) }), at(0), 0)).toEqual(at(7 * day))
    expect(settlementOf(steamTrade(), at(0), 0)).toBeNull()
  })

  it('D-9 the time is the end that an accepted offer states, or eight days after acceptance if it states protection only', () => {
    const shown = (change: object) => offeredSettlement(offer('accepted', change), at(100))
    expect(shown({ settlesAt: at(5 * day) })).toEqual(at(5 * day))
    expect(shown({ settlesAt: at(5 * day), delaysSettlement: true })).toEqual(at(5 * day))
    expect(shown({ delaysSettlement: true })).toEqual(at(100 + 8 * day))
    expect(shown({})).toBeNull()
  })

  it('is the later of two known times', () => {
    expect(later(at(1), at(2))).toEqual(at(2))
    expect(later(at(2), at(1))).toEqual(at(2))
    expect(later(null, at(1))).toEqual(at(1))
    expect(later(at(1), null)).toEqual(at(1))
    expect(later(null, null)).toBeNull()
  })
})
