/** Sales by the client of Waxpeer on the sandboxes of Steam and the markets, over real HTTP and a real socket. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { answerConfirmation } from '../../../steam-sandbox/world/offers.ts'
import { DAY_S } from '../../../steam-sandbox/world/world.ts'
import { CS, DOTA, type MarketBench, openMarketBench, unwrap } from '../../testing/market-bench.ts'
import { openWaxpeerBench, type WaxpeerBench } from '../../testing/waxpeer-bench.ts'
import type { DueGift, Market } from '../market.ts'

let bench: MarketBench
let client: Market
let waxpeer: WaxpeerBench

beforeAll(async () => {
  bench = await openMarketBench()
})
beforeEach(async () => {
  await bench.begin()
  client = bench.waxpeerWith(bench.market.waxpeer.open(bench.seller.steamId))
  waxpeer = openWaxpeerBench(bench, { client: () => client, token: bench.accessToken() })
})
afterEach(async () => {
  client.close()
  await bench.end()
})
afterAll(() => bench.close())

/** `listedAt`: when the sold items were listed; by default long before. */
const isWanted = (due: DueGift, offerId: string, listedAt = new Date(0)) =>
  client.isWanted(due, { offerId, listedAt })

describe('a sale', () => {
  it('is due under the same number by poll and by socket, with exactly the sold items', async () => {
    bench.market.begin('socket-double')
    const { due, assetId } = await waxpeer.sell(DOTA, 'accepts')
    expect(due.assets).toEqual([{ appId: DOTA, contextId: '2', assetId }])
    const { rows, due: dueByPoll } = await unwrap(client.round(DOTA))
    expect(dueByPoll).toEqual([due])
    expect(rows).toMatchObject([{ itemId: assetId, stage: 'sold' }])
    // The poll then answers with the trade itself, without a list.
    bench.market.begin('one-object')
    expect((await unwrap(client.round(DOTA))).due).toEqual([due])
  })

  it('is due even if the socket alone reports it', async () => {
    const { due } = await waxpeer.sell(DOTA, 'never')
    const offerId = bench.send(due, { isConfirmed: false })
    // The poll leaves out a sale whose offer the market knows.
    await unwrap(client.reportOffer(DOTA, { ...due, offerId }))
    await expect.poll(async () => (await unwrap(client.round(DOTA))).due, { timeout: 60_000 }).toEqual([due])
  })

  it('is wanted and later paid after its unconfirmed offer was reported to the market', async () => {
    const { due, assetId } = await waxpeer.sell(DOTA, 'accepts')
    expect(await unwrap(isWanted(due, '1'))).toBe(true)
    expect(await client.reportOffer(DOTA, { ...due, offerId: '999' })).toEqual({
      kind: 'refused',
      code: 'Trade not found',
    })
    const offerId = bench.send(due, { isConfirmed: false })
    bench.market.begin('steam-trade-false')
    expect((await client.reportOffer(DOTA, { ...due, offerId })).kind).toBe('refused')
    bench.market.end('steam-trade-false')
    bench.market.begin('ready-lost')
    expect((await client.reportOffer(DOTA, { ...due, offerId })).kind).toBe('unanswered')
    await unwrap(client.reportOffer(DOTA, { ...due, offerId }))
    expect(await unwrap(isWanted(due, '1'))).toBe(true)
    bench.steam.change((world, nowS) => answerConfirmation(world, { offerId, allow: true }, nowS))
    await bench.advanceSteam(10)
    expect((await unwrap(client.round(DOTA))).rows).toMatchObject([{ itemId: assetId, stage: 'given' }])
    expect(await waxpeer.outcomes(DOTA)).toMatchObject([
      { itemId: assetId, end: { kind: 'paid', receivedMinor: 95n } },
    ])
    expect(await unwrap(client.money())).toEqual({ freeMinor: 95n, settlingMinor: 0n, currency: 'USD' })
  })

  it('of Counter-Strike 2 counts as settling while its buyer may reverse the trade', async () => {
    const { due } = await waxpeer.sell(CS, 'accepts')
    await unwrap(client.reportOffer(CS, { ...due, offerId: bench.send(due) }))
    await bench.advanceSteam(10)
    expect(await waxpeer.outcomes(CS)).toMatchObject([{ end: { kind: 'settling', receivedMinor: 95n } }])
    expect(await unwrap(client.money())).toMatchObject({ freeMinor: 0n, settlingMinor: 95n })
    await bench.advanceSteam(8 * DAY_S)
    expect(await waxpeer.outcomes(CS)).toMatchObject([{ end: { kind: 'paid', receivedMinor: 95n } }])
    expect(await unwrap(client.money())).toMatchObject({ freeMinor: 95n, settlingMinor: 0n })
  })

  it.each([
    ['declines', 'declines'],
    ['makes a counteroffer', 'counters'],
  ] as const)('to a buyer who %s is cancelled', async (_what, temper) => {
    const { due } = await waxpeer.sell(DOTA, temper)
    const offerId = bench.send(due)
    await unwrap(client.reportOffer(DOTA, { ...due, offerId }))
    expect(await client.isCalledOff?.(due, offerId)).toBe(false)
    await bench.advanceSteam(20)
    const callsBefore = bench.market.log.length
    expect(await client.isCalledOff?.(due, 'an offer that the socket did not name')).toBe(false)
    expect(bench.market.log).toHaveLength(callsBefore)
    bench.advanceMachine(30_000)
    expect(await client.isCalledOff?.(due, 'an offer that the socket did not name')).toBe(true)
    expect(await unwrap(isWanted(due, '1'))).toBe(false)
    expect(await waxpeer.outcomes(DOTA)).toMatchObject([{ end: { kind: 'cancelled' } }])
  })

  it('is not wanted if it was not handed over in time, and its item may be listed again with the same number', async () => {
    const { due, assetId } = await waxpeer.sell(DOTA, 'never')
    await bench.advanceSteam(6 * 60)
    expect(await unwrap(isWanted(due, '1'))).toBe(false)
    expect((await unwrap(client.round(DOTA))).due).toEqual([])
    await waxpeer.goOnline()
    expect(await unwrap(client.list(DOTA, [{ assetId, priceMinor: 100n }]))).toMatchObject([
      { kind: 'listed' },
    ])
    expect((await unwrap(client.round(DOTA))).rows).toMatchObject([{ itemId: assetId, stage: 'on_sale' }])
  })

  it('is wanted according to the list or the history if the check of trades has only the numbers that buyers know', async () => {
    const { due } = await waxpeer.sell(DOTA, 'never')
    bench.market.begin('check-for-buyers')
    expect(await unwrap(isWanted(due, '1'))).toBe(true)
    const offerId = bench.send(due, { isConfirmed: false })
    // The list leaves out a sale whose offer the market knows.
    await unwrap(client.reportOffer(DOTA, { ...due, offerId }))
    expect(await unwrap(isWanted(due, '1'))).toBe(true)
    bench.cancel(offerId)
    await bench.advanceSteam(6 * 60)
    expect(await unwrap(isWanted(due, '1'))).toBe(false)
  })

  it('that the socket alone reports waits for the history to show its price', async () => {
    const { due, assetId } = await waxpeer.sell(DOTA, 'never')
    // The poll leaves out a sale whose offer the market knows.
    await unwrap(client.reportOffer(DOTA, { ...due, offerId: bench.send(due, { isConfirmed: false }) }))
    bench.market.begin('history-late')
    const readRows = async () => (await unwrap(client.round(DOTA))).rows
    await expect.poll(readRows, { timeout: 60_000 }).toMatchObject([{ itemId: assetId, stage: 'sold' }])
    expect((await unwrap(client.round(DOTA))).due).toEqual([])
    bench.market.end('history-late')
    const round = await unwrap(client.round(DOTA))
    expect(round).toMatchObject({ due: [due], rows: [{ stage: 'sold', price: 1 }] })
  })

  it('is due and wanted even if the history shows only a former, cancelled sale of the item', async () => {
    const former = await waxpeer.sell(DOTA, 'declines')
    await unwrap(client.reportOffer(DOTA, { ...former.due, offerId: bench.send(former.due) }))
    await bench.advanceSteam(20)
    expect(await unwrap(isWanted(former.due, '1'))).toBe(false)
    bench.market.begin('history-late')
    bench.market.begin('check-for-buyers')
    // Each of the two waits is longer than any allowed difference between Waxpeer's clock and the vault's.
    await bench.advanceSteam(180)
    const listedAt = bench.now()
    bench.advanceMachine(121_000)
    const { due, assetId } = await waxpeer.sell(DOTA, 'never')
    expect(assetId).toBe(former.assetId)
    const offerId = bench.send(due, { isConfirmed: false })
    // The list leaves out a sale whose offer the market knows.
    await unwrap(client.reportOffer(DOTA, { ...due, offerId }))
    expect((await isWanted(due, offerId, listedAt)).kind).toBe('unanswered')
    const sold = { itemId: assetId, stage: 'sold', price: null }
    const readRows = async () => (await unwrap(client.round(DOTA))).rows
    await expect.poll(readRows, { timeout: 60_000 }).toMatchObject([sold])
    expect((await unwrap(client.round(DOTA))).due).toEqual([])
    // Less than 150 seconds are left now, so the vault no longer waits for the price.
    bench.advanceMachine(151_000)
    expect((await unwrap(client.round(DOTA))).due).toEqual([due])
    bench.market.end('history-late')
    expect(await unwrap(isWanted(due, offerId, listedAt))).toBe(true)
    bench.cancel(offerId)
    await bench.advanceSteam(6 * 60)
    expect(await unwrap(isWanted(due, offerId, listedAt))).toBe(false)
  })

  it('is neither forgotten nor counted as unpaid if the history is too long to read', async () => {
    const { due, assetId } = await waxpeer.sell(DOTA, 'accepts')
    await unwrap(client.reportOffer(DOTA, { ...due, offerId: bench.send(due) }))
    await bench.advanceSteam(10)
    bench.market.begin('history-endless')
    const tooLong = { kind: 'unanswered', because: 'a history that is too long to read' }
    expect(await client.round(DOTA)).toEqual(tooLong)
    expect(await client.money()).toEqual(tooLong)
    expect(await waxpeer.outcomes(DOTA)).toMatchObject([{ itemId: assetId, end: { kind: 'paid' } }])
    bench.market.end('history-endless')
    expect((await unwrap(client.round(DOTA))).rows).toMatchObject([{ itemId: assetId, stage: 'given' }])
  })

  it('is checked again while Waxpeer’s answers do not show its state', async () => {
    const { due } = await waxpeer.sell(DOTA, 'never')
    bench.market.begin('status-unknown')
    const offerId = bench.send(due, { isConfirmed: false })
    await unwrap(client.reportOffer(DOTA, { ...due, offerId }))
    expect((await isWanted(due, offerId)).kind).toBe('unanswered')
    bench.market.end('status-unknown')
    expect(await unwrap(isWanted(due, offerId))).toBe(true)
  })

  it('is not wanted after the socket reported that the deal of its offer was called off', async () => {
    const { due } = await waxpeer.sell(DOTA, 'declines')
    const offerId = bench.send(due)
    await unwrap(client.reportOffer(DOTA, { ...due, offerId }))
    await bench.advanceSteam(20)
    await expect.poll(() => client.isCalledOff?.(due, offerId), { timeout: 60_000 }).toBe(true)
    const callsBefore = bench.market.log.length
    expect(await unwrap(isWanted(due, offerId))).toBe(false)
    expect(bench.market.log).toHaveLength(callsBefore)
  })

  it('is due even if the parameters of its trade link are in another order', async () => {
    bench.market.begin('link-reordered')
    const { due } = await waxpeer.sell(DOTA, 'never')
    expect(due.partnerSteamId).toBe(bench.market.waxpeer.world().deals[0]?.buyer)
  })

  it('is due from the socket alone, with its price, if Waxpeer refuses the poll again and again', async () => {
    const { due } = await waxpeer.sell(DOTA, 'never')
    bench.market.begin('poll-refused')
    expect((await client.round(DOTA)).kind).toBe('refused')
    expect((await client.round(DOTA)).kind).toBe('refused')
    await expect
      .poll(
        async () => {
          const round = await client.round(DOTA)
          return round.kind === 'answered' ? round.value.due : []
        },
        { timeout: 60_000 },
      )
      .toEqual([due])
    // From the history, in dollars.
    expect((await unwrap(client.round(DOTA))).rows).toMatchObject([{ stage: 'sold', price: 1 }])
    bench.market.begin('check-for-buyers')
    expect(await unwrap(isWanted(due, bench.send(due, { isConfirmed: false })))).toBe(true)
  })

  it('can be handed over even if the market forgot an access token that it got a while ago', async () => {
    const { due } = await waxpeer.sell(DOTA, 'never')
    const handOver = { ...due, offerId: bench.send(due, { isConfirmed: false }) }
    bench.advanceMachine(61_000)
    // The market also forgets the token that is sent again.
    bench.market.begin('token-forgotten', 2)
    expect((await client.reportOffer(DOTA, handOver)).kind).toBe('refused')
    bench.advanceMachine(61_000)
    await unwrap(client.reportOffer(DOTA, handOver))
  })

  it('is due, and is paid, even if other rows lack a trade link, an amount or a price', async () => {
    bench.market.begin('odd-rows')
    const { due, assetId } = await waxpeer.sell(DOTA, 'accepts')
    const readUnread = async () => (await unwrap(client.round(DOTA))).unread
    await expect.poll(readUnread, { timeout: 60_000 }).toEqual(['without-link', 'pushed-without-link'])
    bench.market.begin('one-object')
    expect(await readUnread()).toContain('without-link')
    bench.market.end('one-object')
    await unwrap(client.reportOffer(DOTA, { ...due, offerId: bench.send(due) }))
    await bench.advanceSteam(10)
    expect(await waxpeer.outcomes(DOTA)).toMatchObject([{ itemId: assetId, end: { kind: 'paid' } }])
    expect(await unwrap(client.money())).toMatchObject({ freeMinor: 95n })
    expect(await waxpeer.outcomes(CS)).toMatchObject([{ itemId: '4242', end: { kind: 'pending' } }])
  })

  it('that must be handed over soon has a row with the seconds left', async () => {
    bench.market.begin('send-soon')
    await waxpeer.listOne(DOTA)
    await waxpeer.goOnline()
    const [assetId = ''] = bench.assetsOf(DOTA)
    await bench.market.waxpeer.buy([waxpeer.findItem(assetId)?.itemId ?? 0], 'accepts')
    expect((await unwrap(client.round(DOTA))).rows[0]?.leftS).toBeLessThanOrEqual(20)
  })
})
