import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { answerConfirmation } from '../../../steam-sandbox/world/offers.ts'
import { DAY_S } from '../../../steam-sandbox/world/world.ts'
import {
  CS,
  DOTA,
  type MarketBench,
  openMarketBench,
  prepareToSell,
  START_MS,
  sell,
  unwrap,
} from '../../testing/market-bench.ts'
import type { DueGift, Market } from '../market.ts'

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

const isWanted = (due: DueGift) => client.isWanted(due, { offerId: '1', listedAt: new Date(0) })
const outcomes = (appId: number) => unwrap(client.outcomes(appId, new Date(START_MS - 1000)))

describe('a sale', () => {
  it('names its items by asset id, and stays due under one deal number until the buyer has them', async () => {
    const { due } = await sell(bench, client, { appId: DOTA, temper: 'accepts', count: 2 })
    expect(due.assets.map(({ assetId }) => assetId)).toEqual(bench.assetsOf(DOTA).slice(0, 2))
    expect((await unwrap(client.round(DOTA))).due).toEqual([due])
    const offerId = bench.send(due)
    expect((await unwrap(client.round(DOTA))).due).toEqual([due])
    await unwrap(client.reportOffer(DOTA, { ...due, offerId }))
    await bench.advanceSteam(10)
    const { rows, due: after } = await unwrap(client.round(DOTA))
    expect([after, rows.map(({ stage }) => stage)]).toEqual([[], ['given', 'given']])
    expect(bench.assetsOf(DOTA)).toHaveLength(1)
  })

  it('in a game without trade protection is paid immediately, as the history and the balance show', async () => {
    const { due, itemIds } = await sell(bench, client, { appId: DOTA, temper: 'accepts' })
    await unwrap(client.reportOffer(DOTA, { ...due, offerId: bench.send(due) }))
    await bench.advanceSteam(10)
    expect(await outcomes(DOTA)).toMatchObject([
      { itemId: itemIds[0], end: { kind: 'paid', receivedMinor: 95n } },
    ])
    expect(await unwrap(client.money())).toEqual({ freeMinor: 95n, settlingMinor: 0n, currency: 'USD' })
  })

  it('settles for seven days in Counter-Strike 2', async () => {
    const { due } = await sell(bench, client, { appId: CS, temper: 'accepts' })
    await unwrap(client.reportOffer(CS, { ...due, offerId: bench.send(due) }))
    await bench.advanceSteam(10)
    expect(await outcomes(CS)).toMatchObject([{ end: { kind: 'settling', receivedMinor: 95n } }])
    expect(await unwrap(client.money())).toMatchObject({ freeMinor: 0n, settlingMinor: 95n })
    expect((await unwrap(client.round(CS))).rows).toMatchObject([{ stage: 'given', leftS: 0 }])
    await bench.advanceSteam(7 * DAY_S)
    expect(await outcomes(CS)).toMatchObject([{ end: { kind: 'paid', receivedMinor: 95n } }])
    expect(await unwrap(client.money())).toMatchObject({ freeMinor: 95n, settlingMinor: 0n })
  })

  it('that the buyer reverses pays a fifth of the price, and the item cannot be listed right afterwards', async () => {
    const { due } = await sell(bench, client, { appId: CS, temper: 'reverses' })
    await unwrap(client.reportOffer(CS, { ...due, offerId: bench.send(due) }))
    await bench.advanceSteam(10)
    await bench.advanceSteam(3 * DAY_S)
    expect(await outcomes(CS)).toMatchObject([
      { end: { kind: 'reversed', causer: 'buyer', refundMinor: 20n } },
    ])
    expect(await unwrap(client.money())).toMatchObject({ freeMinor: 20n, settlingMinor: 0n })
    await prepareToSell(bench, client, CS)
    const lines = due.assets.map(({ assetId }) => ({ assetId, priceMinor: 100n }))
    // The market's own spelling.
    expect(await unwrap(client.list(CS, lines))).toMatchObject([
      { kind: 'refused', code: 'item_not_recieved' },
    ])
  })

  it('that the seller reverses pays nothing, and the account is banned', async () => {
    const { due } = await sell(bench, client, { appId: CS, temper: 'accepts' })
    await unwrap(client.reportOffer(CS, { ...due, offerId: bench.send(due) }))
    await bench.advanceSteam(10)
    expect(await bench.market.takeBack(due.dealId)).toBe(true)
    expect(await outcomes(CS)).toMatchObject([
      { end: { kind: 'reversed', causer: 'seller', refundMinor: 0n } },
    ])
    expect((await unwrap(client.ready())).problems).toContain('banned_from_selling')
  })

  it('counts as reversed by the seller if the seller takes back another sale, because Steam reverses both sales', async () => {
    const deals: string[] = []
    for (let sales = 0; sales < 2; sales += 1) {
      const { due } = await sell(bench, client, { appId: CS, temper: 'accepts' })
      await unwrap(client.reportOffer(CS, { ...due, offerId: bench.send(due) }))
      await bench.advanceSteam(10)
      deals.push(due.dealId)
    }
    expect(await bench.market.takeBack(deals[0] ?? '')).toBe(true)
    const bySeller = { end: { kind: 'reversed', causer: 'seller', refundMinor: 0n } }
    expect(await outcomes(CS)).toMatchObject([bySeller, bySeller])
  })

  it('is paid even if the buyer accepts the offer before it is reported to the market', async () => {
    const { due } = await sell(bench, client, { appId: DOTA, temper: 'eager' })
    const offerId = bench.send(due)
    await bench.advanceSteam(1)
    expect(await outcomes(DOTA)).toMatchObject([{ end: { kind: 'paid' } }])
    expect((await client.reportOffer(DOTA, { ...due, offerId })).kind).toBe('answered')
  })

  it('is paid even if the buyer accepts the offer after the deadline', async () => {
    const { due } = await sell(bench, client, { appId: DOTA, temper: 'late' })
    await unwrap(client.reportOffer(DOTA, { ...due, offerId: bench.send(due) }))
    await bench.advanceSteam(6 * 60)
    expect((await unwrap(client.round(DOTA))).rows).toMatchObject([{ stage: 'offer_out', leftS: 0 }])
    await bench.advanceSteam(3 * 60)
    expect(await outcomes(DOTA)).toMatchObject([{ end: { kind: 'paid' } }])
  })

  it.each([
    ['never answers', 'never'],
    ['declines', 'declines'],
    ['makes a counteroffer', 'counters'],
    ['gets a trade that Steam holds', 'escrow'],
  ] as const)('to a buyer who %s is cancelled', async (_what, temper) => {
    const { due } = await sell(bench, client, { appId: DOTA, temper })
    const offerId = bench.send(due)
    await unwrap(client.reportOffer(DOTA, { ...due, offerId }))
    await bench.advanceSteam(11 * 60)
    // These two buyers leave the offer open or in escrow, so the seller cancels it.
    if (temper === 'never' || temper === 'escrow') bench.cancel(offerId)
    await bench.market.look()
    expect(await outcomes(DOTA)).toMatchObject([{ end: { kind: 'cancelled' } }])
    expect((await unwrap(client.ready())).problems).not.toContain('banned_from_selling')
    expect(bench.assetsOf(DOTA)).toContain(due.assets[0]?.assetId)
  })

  it('that is not handed over stays open until the sale’s time is up', async () => {
    const { due } = await sell(bench, client, { appId: DOTA, temper: 'accepts' })
    const offerId = bench.send(due, { isConfirmed: false })
    expect(await unwrap(isWanted(due))).toBe(true)
    await bench.advanceSteam(4 * 60)
    expect(await unwrap(isWanted(due))).toBe(true)
    await bench.advanceSteam(2 * 60)
    expect(await unwrap(isWanted(due))).toBe(false)
    expect(bench.assetsOf(DOTA)).toContain(due.assets[0]?.assetId)
    bench.cancel(offerId)
  })

  it('is neither wanted nor unwanted while the market’s list is missing, and is wanted once the list is back', async () => {
    const { due } = await sell(bench, client, { appId: DOTA, temper: 'accepts' })
    bench.market.begin('items-missing')
    expect((await isWanted(due)).kind).toBe('unanswered')
    expect(await unwrap(isWanted(due))).toBe(true)
  })

  it('bans the account from selling for a day if it is the third in a row that is not handed over', async () => {
    for (const miss of [1, 2, 3]) {
      await sell(bench, client, { appId: DOTA, temper: 'accepts' })
      await bench.advanceSteam(5 * 60)
      expect((await unwrap(client.ready())).problems.includes('banned_from_selling')).toBe(miss === 3)
    }
    const { problems } = await unwrap(client.ready())
    expect(problems).toContain('banned_from_selling')
    await bench.advanceSteam(DAY_S)
    expect((await unwrap(client.ready())).problems).not.toContain('banned_from_selling')
  })

  it('cannot be reported before its offer is confirmed, and can be reported again if the market fails', async () => {
    const { due } = await sell(bench, client, { appId: DOTA, temper: 'accepts' })
    const offerId = bench.send(due, { isConfirmed: false })
    expect(await client.reportOffer(DOTA, { ...due, offerId })).toEqual({
      kind: 'refused',
      code: 'error not active offers',
    })
    expect(await client.reportOffer(DOTA, { ...due, offerId: '999' })).toEqual({
      kind: 'refused',
      code: 'error get info about trade',
    })
    bench.steam.change((world, nowS) => answerConfirmation(world, { offerId, allow: true }, nowS))
    for (const fault of ['ready-invalid-response', 'ready-no-info', 'ready-not-active'] as const) {
      bench.market.begin(fault)
      expect((await client.reportOffer(DOTA, { ...due, offerId })).kind).toBe('refused')
    }
    bench.market.begin('ready-lost')
    expect((await client.reportOffer(DOTA, { ...due, offerId })).kind).toBe('unanswered')
    expect((await client.reportOffer(DOTA, { ...due, offerId })).kind).toBe('answered')
  })

  it('made while the client reads the market’s answers is not due before its listing shows as sold', async () => {
    await prepareToSell(bench, client, DOTA)
    const lines = bench.assetsOf(DOTA).map((assetId) => ({ assetId, priceMinor: 100n }))
    const [first] = await unwrap(client.list(DOTA, lines))
    await bench.market.buy([first?.kind === 'listed' ? Number(first.itemId) : 0], 'accepts')
    bench.market.begin('sold-meanwhile', 2)
    // One item is sold already. During each of the two rounds, another one is bought.
    for (const sold of [2, 3]) {
      const { rows, due } = await unwrap(client.round(DOTA))
      const stages = due.map(
        ({ assets: [asset] }) => rows.find((row) => row.assetId === asset?.assetId)?.stage,
      )
      expect(stages).toEqual(Array(sold).fill('sold'))
    }
  })

  it('is handed over and paid even if the market’s answers contain unreadable rows', async () => {
    bench.market.begin('strange-rows')
    const { due, itemIds } = await sell(bench, client, { appId: DOTA, temper: 'accepts' })
    const { rows, unread } = await unwrap(client.round(DOTA))
    expect(unread).toEqual(['without-token'])
    // A listing without a row would count as taken down.
    expect(rows.map(({ itemId, stage }) => [itemId, stage])).toEqual([
      ['7', 'unknown'],
      [itemIds[0], 'sold'],
    ])
    await unwrap(client.reportOffer(DOTA, { ...due, offerId: bench.send(due) }))
    await bench.advanceSteam(10)
    expect(await outcomes(DOTA)).toMatchObject([{ itemId: itemIds[0], end: { kind: 'paid' } }])
  })

  it('gets a deal number other than that of an earlier sale of the same item', async () => {
    const { due } = await sell(bench, client, { appId: DOTA, temper: 'declines' })
    bench.send(due)
    await bench.advanceSteam(20)
    const secondSale = await sell(bench, client, { appId: DOTA, temper: 'accepts' })
    expect(secondSale.due.assets).toEqual(due.assets)
    expect(secondSale.due.dealId).not.toBe(due.dealId)
  })
})
