/** Sales on market.csgo.com and its sister markets, from the listing to the money, against both sandboxes. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { confirmOffer } from '../../steam-sandbox/world/offers.ts'
import { DAY_S } from '../../steam-sandbox/world/world.ts'
import {
  CS,
  DOTA,
  type MarketBench,
  openMarketBench,
  readyToSell,
  START_MS,
  sell,
  value,
} from '../testing/market-bench.ts'
import type { Market } from './market.ts'

let bench: MarketBench
let client: Market

beforeAll(async () => {
  bench = await openMarketBench()
})
beforeEach(async () => {
  await bench.begin()
  client = bench.clientWith(bench.market.open(bench.seller.steamId))
})
afterEach(() => bench.end())
afterAll(() => bench.close())

const outcomes = (appId: number) => value(client.outcomes(appId, new Date(START_MS - 1000)))

describe('a sale', () => {
  it('stays due under one deal number until the buyer has the items, and names each item by its asset id', async () => {
    const { due } = await sell(bench, client, { appId: DOTA, as: 'accepts', count: 2 })
    expect(due.assets.map(({ assetId }) => assetId)).toEqual(bench.assetsOf(DOTA).slice(0, 2))
    expect((await value(client.round(DOTA))).due).toEqual([due])
    const offerId = bench.send(due)
    expect((await value(client.round(DOTA))).due).toEqual([due])
    await value(client.reportOffer(DOTA, { ...due, offerId }))
    await bench.later(10)
    const { rows, due: after } = await value(client.round(DOTA))
    expect([after, rows.map(({ stage }) => stage)]).toEqual([[], ['given', 'given']])
    expect(bench.assetsOf(DOTA)).toHaveLength(1)
  })

  it('in a game without trade protection is paid immediately, as the history and the balance show', async () => {
    const { due, itemIds } = await sell(bench, client, { appId: DOTA, as: 'accepts' })
    await value(client.reportOffer(DOTA, { ...due, offerId: bench.send(due) }))
    await bench.later(10)
    expect(await outcomes(DOTA)).toMatchObject([
      { itemId: itemIds[0], end: { kind: 'paid', receivedMinor: 95n } },
    ])
    expect(await value(client.money())).toEqual({ freeMinor: 95n, settlingMinor: 0n, currency: 'USD' })
  })

  it('settles for seven days in Counter-Strike 2', async () => {
    const { due } = await sell(bench, client, { appId: CS, as: 'accepts' })
    await value(client.reportOffer(CS, { ...due, offerId: bench.send(due) }))
    await bench.later(10)
    expect(await outcomes(CS)).toMatchObject([{ end: { kind: 'settling', receivedMinor: 95n } }])
    expect(await value(client.money())).toMatchObject({ freeMinor: 0n, settlingMinor: 95n })
    expect((await value(client.round(CS))).rows).toMatchObject([{ stage: 'given', leftS: 0 }])
    await bench.later(7 * DAY_S)
    expect(await outcomes(CS)).toMatchObject([{ end: { kind: 'paid', receivedMinor: 95n } }])
    expect(await value(client.money())).toMatchObject({ freeMinor: 95n, settlingMinor: 0n })
  })

  it('that the buyer reverses pays a fifth of the price, and bars its item from listing for a week', async () => {
    const { due } = await sell(bench, client, { appId: CS, as: 'reverses' })
    await value(client.reportOffer(CS, { ...due, offerId: bench.send(due) }))
    await bench.later(10)
    await bench.later(3 * DAY_S)
    expect(await outcomes(CS)).toMatchObject([
      { end: { kind: 'reversed', causer: 'buyer', refundMinor: 20n } },
    ])
    expect(await value(client.money())).toMatchObject({ freeMinor: 20n, settlingMinor: 0n })
    await readyToSell(bench, client, CS)
    const lines = due.assets.map(({ assetId }) => ({ assetId, priceMinor: 100n }))
    expect(await value(client.list(CS, lines))).toMatchObject([
      { kind: 'refused', code: 'item_not_recieved' },
    ])
  })

  it('that the seller reverses pays nothing, and the account is banned', async () => {
    const { due } = await sell(bench, client, { appId: CS, as: 'accepts' })
    await value(client.reportOffer(CS, { ...due, offerId: bench.send(due) }))
    await bench.later(10)
    expect(await bench.market.takeBack(due.dealId)).toBe(true)
    expect(await outcomes(CS)).toMatchObject([
      { end: { kind: 'reversed', causer: 'seller', refundMinor: 0n } },
    ])
    expect((await value(client.ready())).problems).toContain('banned_from_selling')
  })

  it('may be accepted before the offer is reported to the market', async () => {
    const { due } = await sell(bench, client, { appId: DOTA, as: 'eager' })
    const offerId = bench.send(due)
    await bench.later(1)
    expect(await outcomes(DOTA)).toMatchObject([{ end: { kind: 'paid' } }])
    expect((await client.reportOffer(DOTA, { ...due, offerId })).kind).toBe('answered')
  })

  it('may be accepted after its deadline', async () => {
    const { due } = await sell(bench, client, { appId: DOTA, as: 'late' })
    await value(client.reportOffer(DOTA, { ...due, offerId: bench.send(due) }))
    await bench.later(6 * 60)
    expect((await value(client.round(DOTA))).rows).toMatchObject([{ stage: 'offer_out', leftS: 0 }])
    await bench.later(3 * 60)
    expect(await outcomes(DOTA)).toMatchObject([{ end: { kind: 'paid' } }])
  })

  it.each([
    ['never answers', 'never'],
    ['declines', 'declines'],
    ['makes a counteroffer', 'counters'],
    ['has no mobile authenticator', 'escrow'],
  ] as const)('to a buyer who %s is cancelled', async (_what, as) => {
    const { due } = await sell(bench, client, { appId: DOTA, as })
    const offerId = bench.send(due)
    await value(client.reportOffer(DOTA, { ...due, offerId }))
    await bench.later(11 * 60)
    if (as === 'never' || as === 'escrow') bench.cancel(offerId)
    await bench.market.look()
    expect(await outcomes(DOTA)).toMatchObject([{ end: { kind: 'cancelled' } }])
    expect((await value(client.ready())).problems).not.toContain('banned_from_selling')
    expect(bench.assetsOf(DOTA)).toContain(due.assets[0]?.assetId)
  })

  it('that is not handed over stays open until its time is up', async () => {
    const { due } = await sell(bench, client, { appId: DOTA, as: 'accepts' })
    const offerId = bench.send(due, false)
    expect(await value(client.isWanted(due))).toBe(true)
    await bench.later(4 * 60)
    expect(await value(client.isWanted(due))).toBe(true)
    await bench.later(2 * 60)
    expect(await value(client.isWanted(due))).toBe(false)
    expect(bench.assetsOf(DOTA)).toContain(due.assets[0]?.assetId)
    bench.cancel(offerId)
  })

  it('that is not handed over bars the account from selling for a day if it is the third one', async () => {
    for (const miss of [1, 2, 3]) {
      await sell(bench, client, { appId: DOTA, as: 'accepts' })
      await bench.later(5 * 60)
      expect((await value(client.ready())).problems.includes('banned_from_selling')).toBe(miss === 3)
    }
    const { problems } = await value(client.ready())
    expect(problems).toContain('banned_from_selling')
    await bench.later(DAY_S)
    expect((await value(client.ready())).problems).not.toContain('banned_from_selling')
  })

  it('is not ready before its offer is confirmed, and is reported again if the market fails', async () => {
    const { due } = await sell(bench, client, { appId: DOTA, as: 'accepts' })
    const offerId = bench.send(due, false)
    expect(await client.reportOffer(DOTA, { ...due, offerId })).toEqual({
      kind: 'refused',
      code: 'error not active offers',
    })
    expect(await client.reportOffer(DOTA, { ...due, offerId: '999' })).toEqual({
      kind: 'refused',
      code: 'error get info about trade',
    })
    bench.steam.change((world, nowS) => confirmOffer(world, { offerId, allow: true }, nowS))
    for (const fault of ['ready-invalid-response', 'ready-no-info', 'ready-not-active'] as const) {
      bench.market.begin(fault)
      expect((await client.reportOffer(DOTA, { ...due, offerId })).kind).toBe('refused')
    }
    bench.market.begin('ready-lost')
    expect((await client.reportOffer(DOTA, { ...due, offerId })).kind).toBe('unanswered')
    expect((await client.reportOffer(DOTA, { ...due, offerId })).kind).toBe('answered')
  })

  it('gets a different deal number from an earlier sale of the same item', async () => {
    const { due } = await sell(bench, client, { appId: DOTA, as: 'declines' })
    bench.send(due)
    await bench.later(20)
    const again = await sell(bench, client, { appId: DOTA, as: 'accepts' })
    expect(again.due.assets).toEqual(due.assets)
    expect(again.due.dealId).not.toBe(due.dealId)
  })
})
