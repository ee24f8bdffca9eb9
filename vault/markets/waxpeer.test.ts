/** The client of Waxpeer against both sandboxes, over real HTTP and a real socket; only time is simulated. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Temper } from '../../market-sandbox/world/world.ts'
import { confirmOffer } from '../../steam-sandbox/world/offers.ts'
import { DAY_S } from '../../steam-sandbox/world/world.ts'
import { CS, DOTA, type MarketBench, openMarketBench, START_MS, unwrap } from '../testing/market-bench.ts'
import type { Market } from './market.ts'

let bench: MarketBench
let client: Market
let token: string

beforeAll(async () => {
  bench = await openMarketBench()
})
beforeEach(async () => {
  await bench.begin()
  token = bench.accessToken()
  client = bench.waxpeerWith(bench.market.waxpeer.open(bench.seller.steamId))
})
afterEach(async () => {
  client.close()
  await bench.end()
})
afterAll(() => bench.close())

/** Pings until the market counts the account as online. This takes a while, because the socket is real. */
async function goOnline(): Promise<void> {
  await unwrap(client.setTradeToken('abcd1234'))
  await expect
    .poll(
      async () => {
        await client.keepOnline(token)
        return (await unwrap(client.ready())).problems
      },
      { timeout: 60_000 },
    )
    .toEqual([])
}

async function prepareToSell(appId: number): Promise<void> {
  await goOnline()
  await unwrap(client.refresh(appId))
  await bench.advanceS(15)
}

const findItem = (assetId: string) =>
  bench.market.waxpeer.world().items.findLast((item) => item.assetId === assetId)

async function listOne(appId: number): Promise<string> {
  await prepareToSell(appId)
  const [assetId = ''] = bench.assetsOf(appId)
  expect(await unwrap(client.list(appId, [{ assetId, priceMinor: 100n }]))).toEqual([
    { kind: 'listed', assetId, itemId: assetId },
  ])
  return assetId
}

/** Lists an item at $1.00; a buyer of this temper buys it. */
async function sell(appId: number, temper: Temper) {
  const assetId = await listOne(appId)
  // A ping is due by now.
  await goOnline()
  expect((await bench.market.waxpeer.buy([findItem(assetId)?.itemId ?? 0], temper)).kind).toBe('bought')
  const [due] = (await unwrap(client.round(appId))).due
  if (!due) throw new Error('nothing is due')
  return { due, assetId }
}

const outcomes = (appId: number) => unwrap(client.outcomes(appId, new Date(START_MS - 1000)))

describe('an account', () => {
  it('needs a socket, a trade link, and a token that the client sends again after an hour', async () => {
    expect(await unwrap(client.ready())).toEqual({
      problems: ['no_trade_token', 'offline'],
      feeBp: 500n,
    })
    expect(await client.keepOnline('nothing')).toEqual({
      kind: 'refused',
      code: 'Need to refresh access token',
    })
    await goOnline()
    const countTokenCalls = () =>
      bench.market.log.filter(({ path }) => path === '/v1/user/steam-token').length
    const before = countTokenCalls()
    await unwrap(client.keepOnline(token))
    expect(countTokenCalls()).toBe(before)
    bench.advanceMs(3_600_000)
    await goOnline()
    expect(countTokenCalls()).toBe(before + 1)
  })

  it('cannot sell with the key of another account, and makes no more calls if the key is unknown', async () => {
    client.close()
    client = bench.waxpeerWith(bench.market.waxpeer.open('76561198000000000'))
    expect((await unwrap(client.ready())).problems).toContain('other_account')
    client = bench.waxpeerWith('an unknown key')
    expect(await client.money()).toEqual({ kind: 'locked_out' })
    const before = bench.market.log.length
    expect(await client.money()).toEqual({ kind: 'locked_out' })
    expect(bench.market.log).toHaveLength(before)
  })

  it('makes at most one call a second', async () => {
    const beganMs = bench.machineMs()
    // A round makes three calls.
    for (let times = 0; times < 3; times += 1) await unwrap(client.round(DOTA))
    expect(bench.machineMs() - beganMs).toBe(8_000)
  })

  it('reopens its socket if pings are not answered', async () => {
    await goOnline()
    const opened = () => bench.market.log.filter(({ host }) => host === 'wssex.waxpeer.com').length
    expect(opened()).toBe(1)
    bench.market.begin('socket-silent')
    await expect
      .poll(
        async () => {
          bench.advanceMs(15_000)
          await client.keepOnline(token)
          return opened()
        },
        { timeout: 60_000 },
      )
      .toBe(2)
    bench.market.end('socket-silent')
    await goOnline()
  })

  it('cannot be kept online if its socket does not open for a minute', async () => {
    bench.market.begin('socket-refused')
    expect((await client.keepOnline(token)).kind).toBe('answered')
    bench.advanceMs(61_000)
    expect(await client.keepOnline(token)).toEqual({
      kind: 'unanswered',
      because: 'its socket does not open',
    })
    bench.market.end('socket-refused')
    bench.advanceMs(5_000)
    await goOnline()
  })
})

describe('a listing', () => {
  it('of several items needs an inventory that was read, keeps ids of 19 digits, and has a result for each', async () => {
    await goOnline()
    const lines = bench
      .assetsOf(DOTA)
      .map((assetId, index) => ({ assetId, priceMinor: BigInt(1_234 + index) }))
    const first = lines.slice(0, 1)
    expect(await unwrap(client.list(DOTA, first))).toMatchObject([{ kind: 'refused', retry: true }])
    await unwrap(client.refresh(DOTA))
    await bench.advanceS(15)
    const answers = await unwrap(client.list(DOTA, [...lines, { assetId: '42', priceMinor: 1n }]))
    expect(answers.map(({ kind }) => kind)).toEqual(['listed', 'listed', 'listed', 'refused'])
    const { rows } = await unwrap(client.round(DOTA))
    expect(rows.map(({ assetId, stage, price }) => [assetId, stage, price])).toEqual(
      lines.map(({ assetId, priceMinor }) => [assetId, 'on_sale', Number(priceMinor) * 10]),
    )
  })

  it('is made or changed at most twice in two minutes, and the client makes no third call', async () => {
    const assetId = await listOne(DOTA)
    const reprice = () => unwrap(client.reprice(DOTA, [{ itemId: assetId, priceMinor: 90n }]))
    expect(await reprice()).toEqual([{ itemId: assetId, isDone: true }])
    const before = bench.market.log.length
    expect(await reprice()).toEqual([])
    expect(await unwrap(client.list(DOTA, [{ assetId, priceMinor: 90n }]))).toEqual([
      { kind: 'refused', assetId, code: 'too early', retry: true },
    ])
    expect(bench.market.log).toHaveLength(before)
    bench.advanceMs(121_000)
    expect(await reprice()).toEqual([{ itemId: assetId, isDone: true }])
  })

  it('of an item that was sold cannot change its price or come down, but one that is on sale can come down', async () => {
    const { assetId } = await sell(DOTA, 'never')
    expect(await unwrap(client.reprice(DOTA, [{ itemId: assetId, priceMinor: 90n }]))).toEqual([
      { itemId: assetId, isDone: false },
    ])
    expect(await unwrap(client.unlist(DOTA, [assetId]))).toEqual([{ itemId: assetId, isDone: false }])
    const [, other = ''] = bench.assetsOf(DOTA)
    await unwrap(client.list(DOTA, [{ assetId: other, priceMinor: 100n }]))
    expect(await unwrap(client.unlist(DOTA, [other]))).toEqual([{ itemId: other, isDone: true }])
  })

  it('is found in the market’s list if the answer to the call that made it was lost', async () => {
    await prepareToSell(DOTA)
    const [assetId = ''] = bench.assetsOf(DOTA)
    bench.market.begin('answer-lost')
    expect((await client.list(DOTA, [{ assetId, priceMinor: 100n }])).kind).toBe('unanswered')
    expect((await unwrap(client.round(DOTA))).rows).toMatchObject([{ assetId, stage: 'on_sale' }])
  })
})

describe('a sale', () => {
  it('is due under one number by poll and socket, with exactly the sold items', async () => {
    bench.market.begin('socket-double')
    const { due, assetId } = await sell(DOTA, 'accepts')
    expect(due.assets).toEqual([{ appId: DOTA, contextId: '2', assetId }])
    const { rows, due: again } = await unwrap(client.round(DOTA))
    expect(again).toEqual([due])
    expect(rows).toMatchObject([{ itemId: assetId, stage: 'sold' }])
    // The poll then answers with the trade itself, without a list.
    bench.market.begin('one-object')
    expect((await unwrap(client.round(DOTA))).due).toEqual([due])
  })

  it('is due even if only the socket reports it', async () => {
    const { due } = await sell(DOTA, 'never')
    const offerId = bench.send(due, false)
    // The poll leaves out a sale whose offer the market knows.
    await unwrap(client.reportOffer(DOTA, { ...due, offerId }))
    await expect.poll(async () => (await unwrap(client.round(DOTA))).due, { timeout: 60_000 }).toEqual([due])
  })

  it('whose offer is reported to the market before it is confirmed is still wanted after that, and is paid', async () => {
    const { due, assetId } = await sell(DOTA, 'accepts')
    expect(await unwrap(client.isWanted(due))).toBe(true)
    expect(await client.reportOffer(DOTA, { ...due, offerId: '999' })).toEqual({
      kind: 'refused',
      code: 'Trade not found',
    })
    const offerId = bench.send(due, false)
    bench.market.begin('steam-trade-false')
    expect((await client.reportOffer(DOTA, { ...due, offerId })).kind).toBe('refused')
    bench.market.end('steam-trade-false')
    bench.market.begin('ready-lost')
    expect((await client.reportOffer(DOTA, { ...due, offerId })).kind).toBe('unanswered')
    await unwrap(client.reportOffer(DOTA, { ...due, offerId }))
    expect(await unwrap(client.isWanted(due))).toBe(true)
    bench.steam.change((world, nowS) => confirmOffer(world, { offerId, allow: true }, nowS))
    await bench.advanceS(10)
    expect((await unwrap(client.round(DOTA))).rows).toMatchObject([{ itemId: assetId, stage: 'given' }])
    expect(await outcomes(DOTA)).toMatchObject([
      { itemId: assetId, end: { kind: 'paid', receivedMinor: 95n } },
    ])
    expect(await unwrap(client.money())).toEqual({ freeMinor: 95n, settlingMinor: 0n, currency: 'USD' })
  })

  it('of Counter-Strike 2 counts as settling while its buyer may reverse the trade', async () => {
    const { due } = await sell(CS, 'accepts')
    await unwrap(client.reportOffer(CS, { ...due, offerId: bench.send(due) }))
    await bench.advanceS(10)
    expect(await outcomes(CS)).toMatchObject([{ end: { kind: 'settling', receivedMinor: 95n } }])
    expect(await unwrap(client.money())).toMatchObject({ freeMinor: 0n, settlingMinor: 95n })
    await bench.advanceS(8 * DAY_S)
    expect(await outcomes(CS)).toMatchObject([{ end: { kind: 'paid', receivedMinor: 95n } }])
    expect(await unwrap(client.money())).toMatchObject({ freeMinor: 95n, settlingMinor: 0n })
  })

  it.each([
    ['declines', 'declines'],
    ['makes a counteroffer', 'counters'],
  ] as const)('to a buyer who %s is cancelled', async (_what, temper) => {
    const { due } = await sell(DOTA, temper)
    const offerId = bench.send(due)
    await unwrap(client.reportOffer(DOTA, { ...due, offerId }))
    expect(await client.isCalledOff?.(due, offerId)).toBe(false)
    await bench.advanceS(20)
    const askedBefore = bench.market.log.length
    expect(await client.isCalledOff?.(due, 'an offer that the socket did not name')).toBe(false)
    expect(bench.market.log).toHaveLength(askedBefore)
    bench.advanceMs(30_000)
    expect(await client.isCalledOff?.(due, 'an offer that the socket did not name')).toBe(true)
    expect(await unwrap(client.isWanted(due))).toBe(false)
    expect(await outcomes(DOTA)).toMatchObject([{ end: { kind: 'cancelled' } }])
  })

  it('is no longer wanted if it is not handed over in time, and its item may be listed again under the same number', async () => {
    const { due, assetId } = await sell(DOTA, 'never')
    await bench.advanceS(6 * 60)
    expect(await unwrap(client.isWanted(due))).toBe(false)
    expect((await unwrap(client.round(DOTA))).due).toEqual([])
    await goOnline()
    expect(await unwrap(client.list(DOTA, [{ assetId, priceMinor: 100n }]))).toMatchObject([
      { kind: 'listed' },
    ])
    expect((await unwrap(client.round(DOTA))).rows).toMatchObject([{ itemId: assetId, stage: 'on_sale' }])
  })

  it('is wanted by its own list or history where the check of trades knows only buyers', async () => {
    const { due } = await sell(DOTA, 'never')
    bench.market.begin('check-for-buyers')
    expect(await unwrap(client.isWanted(due))).toBe(true)
    const offerId = bench.send(due, false)
    // The list leaves out a sale whose offer the market knows.
    await unwrap(client.reportOffer(DOTA, { ...due, offerId }))
    expect(await unwrap(client.isWanted(due))).toBe(true)
    bench.cancel(offerId)
    await bench.advanceS(6 * 60)
    expect(await unwrap(client.isWanted(due))).toBe(false)
  })

  it('can be handed over although the market forgot the access token that it got a while ago', async () => {
    const { due } = await sell(DOTA, 'never')
    const handOver = { ...due, offerId: bench.send(due, false) }
    bench.advanceMs(61_000)
    // The market forgets the token that is sent again, too.
    bench.market.begin('token-forgotten', 2)
    expect((await client.reportOffer(DOTA, handOver)).kind).toBe('refused')
    bench.advanceMs(61_000)
    await unwrap(client.reportOffer(DOTA, handOver))
  })

  it('is due, and paid, beside rows without an amount or price', async () => {
    bench.market.begin('odd-rows')
    const { due, assetId } = await sell(DOTA, 'accepts')
    await unwrap(client.reportOffer(DOTA, { ...due, offerId: bench.send(due) }))
    await bench.advanceS(10)
    expect(await outcomes(DOTA)).toMatchObject([{ itemId: assetId, end: { kind: 'paid' } }])
    expect(await unwrap(client.money())).toMatchObject({ freeMinor: 95n })
    expect(await outcomes(CS)).toMatchObject([{ itemId: '4242', end: { kind: 'pending' } }])
  })

  it('may leave only 20 seconds to hand it over', async () => {
    bench.market.begin('send-soon')
    await listOne(DOTA)
    await goOnline()
    const [assetId = ''] = bench.assetsOf(DOTA)
    await bench.market.waxpeer.buy([findItem(assetId)?.itemId ?? 0], 'accepts')
    expect((await unwrap(client.round(DOTA))).rows[0]?.leftS).toBeLessThanOrEqual(20)
  })
})
