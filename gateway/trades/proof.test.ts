import { describe, expect, it } from 'vitest'
import type { TradeStatus } from '../steam/steam.ts'
import { active, at, exchange, items } from '../testing/trades.ts'
import { judgeExchange, settlementOf } from './proof.ts'

const marked = (...ids: string[]) =>
  exchange().received.map((asset) => ({
    ...asset,
    rolledBackAssetId: ids.includes(asset.assetId) ? asset.assetId : null,
  }))
const unmoved = items.map((asset) => ({ ...asset, newAssetId: null, rolledBackAssetId: null }))

describe('what a record of an exchange proves', () => {
  it.each<[string, Partial<TradeStatus>, string]>([
    ['D-8 a complete one', {}, 'delivered'],
    ['D-8 a committed one with every new id', { state: 'committed' }, 'delivered'],
    ['D-8 a committed one without the new ids', { state: 'committed', received: unmoved }, 'not_yet'],
    ['a pending one', { state: 'pending' }, 'not_yet'],
    ['one in escrow', { state: 'in_escrow' }, 'not_yet'],
    ['a failed one', { state: 'failed' }, 'failed'],
    ['the one that takes another back', { rollbackOf: '899' }, 'contradiction'],
    ['one with somebody else', { partnerSteamId: '1' }, 'contradiction'],
    ['one of fewer items', { received: exchange().received.slice(1) }, 'contradiction'],
    ['one taken back in part without a mark', { state: 'partly_rolled_back' }, 'contradiction'],
  ])('%s', (_name, change, proof) => {
    expect(judgeExchange(active, exchange(change)).kind).toBe(proof)
  })

  it.each<[string, Partial<TradeStatus>, string[]]>([
    ['all of it', { state: 'rolled_back' }, ['11', '12']],
    ['all of it, marked', { state: 'rolled_back', received: marked('11', '12') }, ['11', '12']],
    ['one item', { state: 'rolled_back', received: marked('12') }, ['12']],
    ['one item by Steam’s support', { state: 'partly_rolled_back', received: marked('11') }, ['11']],
  ])('D-9 taken back: %s', (_name, change, assetIds) => {
    expect(judgeExchange(active, exchange(change))).toEqual({ kind: 'taken_back', assetIds })
  })
})

describe('when a delivery is final', () => {
  const day = 86_400
  it('D-9 is the later of the game’s days and Steam’s own time', () => {
    expect(settlementOf(exchange(), at(0), 8)).toEqual(at(8 * day))
    expect(settlementOf(exchange({ settlesAt: at(9 * day) }), at(0), 8)).toEqual(at(9 * day))
    expect(settlementOf(exchange({ settlesAt: at(7 * day) }), at(0), 0)).toEqual(at(7 * day))
    expect(settlementOf(exchange(), at(0), 0)).toBeNull()
  })
})
