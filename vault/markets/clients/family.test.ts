/** The client of the market.csgo.com family on the sandboxes of Steam and the markets, over real HTTP. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  CS,
  DOTA,
  type MarketBench,
  openMarketBench,
  prepareToSell,
  unwrap,
} from '../../testing/market-bench.ts'
import type { Market } from '../market.ts'
import { scaleOf } from '../scale.ts'

const TF2 = 440
const RUST = 252490

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

describe('an account', () => {
  it('shows why it cannot sell, and is online for three to four minutes after a ping', async () => {
    expect(await unwrap(client.ready())).toEqual({
      problems: ['no_trade_token', 'offline'],
      feeBp: null,
    })
    expect(await client.keepOnline('nothing')).toEqual({ kind: 'refused', code: 'Invalid access token' })
    const otherBot = bench.steam
      .world()
      .accounts.find(({ kind, steamId }) => kind === 'bot' && steamId !== bench.seller.steamId)
    expect(await client.keepOnline(bench.accessToken(otherBot))).toMatchObject({ kind: 'refused' })
    await unwrap(client.keepOnline(bench.accessToken()))
    await bench.advanceSteam(180)
    expect((await unwrap(client.ready())).problems).toEqual(['no_trade_token'])
    await bench.advanceSteam(60)
    expect((await unwrap(client.ready())).problems).toContain('offline')
  })

  it('is online even if the market refuses a ping that comes too soon after another', async () => {
    await unwrap(client.keepOnline(bench.accessToken()))
    await unwrap(client.keepOnline(bench.accessToken()))
    expect((await unwrap(client.ready())).problems).not.toContain('offline')
  })

  it('cannot sell with the key of another account', async () => {
    client = bench.clientWith(bench.market.open('76561198000000000'))
    expect((await unwrap(client.ready())).problems).toContain('other_account')
  })

  it('cannot sell in another currency, because each listing would be refused', async () => {
    const key = bench.market.open(bench.seller.steamId)
    expect((await unwrap(client.ready())).problems).not.toContain('other_currency')
    client = bench.clientWith(key, { currency: 'EUR' })
    expect((await unwrap(client.ready())).problems).toContain('other_currency')
  })

  it('keeps its key, because the client makes at most two calls a second to all hosts together', async () => {
    const beganMs = bench.machineMs()
    for (const appId of [DOTA, CS, TF2, RUST, DOTA, CS, TF2, RUST, DOTA]) await unwrap(client.round(appId))
    await unwrap(client.money())
    // Ten calls, half a second apart.
    expect(bench.machineMs() - beganMs).toBe(9 * 500)
    expect((await client.money()).kind).toBe('answered')
  })

  it('loses its key after more than five requests in a second, and the client then makes no calls', async () => {
    // `client` has the same key, because an account has only one at a market.
    const key = bench.market.open(bench.seller.steamId)
    const answers: unknown[] = []
    for (const appId of [DOTA, CS, TF2, RUST, DOTA, CS]) {
      // A new client for each call, because processes do not share a pace.
      answers.push((await bench.clientWith(key).round(appId)).kind)
    }
    expect(answers).toEqual(['answered', 'answered', 'answered', 'answered', 'answered', 'locked_out'])
    expect(await client.money()).toEqual({ kind: 'locked_out' })
    const callsBefore = bench.market.log.length
    expect(await client.money()).toEqual({ kind: 'locked_out' })
    expect(bench.market.log).toHaveLength(callsBefore)
  })
})

describe('a listing', () => {
  it('needs an inventory that the market has read, which takes some seconds', async () => {
    await unwrap(client.keepOnline(bench.accessToken()))
    const [assetId = ''] = bench.assetsOf(DOTA)
    const list = () => unwrap(client.list(DOTA, [{ assetId, priceMinor: 100n }]))
    expect(await list()).toEqual([{ kind: 'refused', assetId, code: 'inventory_not_loaded', retry: true }])
    await unwrap(client.refresh(DOTA))
    await bench.advanceSteam(8)
    expect((await list())[0]).toMatchObject({ kind: 'refused', retry: true })
    await bench.advanceSteam(5)
    expect((await list())[0]).toMatchObject({ kind: 'listed', assetId })
    expect((await list())[0]).toMatchObject({ kind: 'refused', code: 'item_not_inserted', retry: false })
  })

  it('keeps an asset id of 19 digits exactly, and the price in the scale of the currency', async () => {
    await prepareToSell(bench, client, DOTA)
    const lines = bench
      .assetsOf(DOTA)
      .map((assetId, index) => ({ assetId, priceMinor: BigInt(1_234 + index) }))
    const listed = await unwrap(client.list(DOTA, lines))
    expect(listed.map(({ kind }) => kind)).toEqual(['listed', 'listed', 'listed'])
    expect(bench.market.world().items.map(({ assetId, price }) => [assetId, price])).toEqual(
      lines.map(({ assetId, priceMinor }) => [assetId, Number(priceMinor) * 10]),
    )
    const { rows } = await unwrap(client.round(DOTA))
    expect(rows.map(({ assetId, stage, price }) => [assetId, stage, price])).toEqual(
      lines.map(({ assetId, priceMinor }) => [assetId, 'on_sale', Number(priceMinor) / 100]),
    )
  })

  it('of several items has a result for each, even if the envelope reports success for a refused item', async () => {
    await prepareToSell(bench, client, DOTA)
    const [first = '', second = ''] = bench.assetsOf(DOTA)
    const lines = [first, '42', second].map((assetId) => ({
      assetId,
      priceMinor: assetId === second ? 0n : 100n,
    }))
    expect(
      (await unwrap(client.list(DOTA, lines))).map((line) => ('code' in line ? line.code : line.kind)),
    ).toEqual(['listed', 'item_not_in_inventory', 'bad_request'])
    bench.market.begin('envelope-lies')
    expect((await unwrap(client.list(DOTA, [{ assetId: second, priceMinor: 5n }])))[0]).toMatchObject({
      kind: 'refused',
    })
  })

  it('is made or repriced even if other lines of its call failed without naming their items', async () => {
    await prepareToSell(bench, client, DOTA)
    bench.market.begin('failed-without-id')
    const [assetId = ''] = bench.assetsOf(DOTA)
    const lines = [assetId, '42'].map((each) => ({ assetId: each, priceMinor: 100n }))
    const [first, second] = await unwrap(client.list(DOTA, lines))
    expect([first?.kind, second?.kind]).toEqual(['listed', 'refused'])
    const itemId = first?.kind === 'listed' ? first.itemId : ''
    const prices = [itemId, '42'].map((each) => ({ itemId: each, priceMinor: 90n }))
    expect(await unwrap(client.reprice(DOTA, prices))).toEqual([
      { itemId, isDone: true },
      { itemId: '42', isDone: false },
    ])
  })

  it('is refused in a currency other than the account’s', async () => {
    await prepareToSell(bench, client, DOTA)
    client = bench.clientWith(bench.market.open(bench.seller.steamId), { currency: 'EUR' })
    const lines = [{ assetId: bench.assetsOf(DOTA)[0] ?? '', priceMinor: 100n }]
    expect(await client.list(DOTA, lines)).toEqual({ kind: 'refused', code: 'bad_currency' })
  })

  it('can be repriced and taken down until it is sold', async () => {
    await prepareToSell(bench, client, DOTA)
    const lines = bench.assetsOf(DOTA).map((assetId) => ({ assetId, priceMinor: 100n }))
    const ids = (await unwrap(client.list(DOTA, lines))).map((line) =>
      line.kind === 'listed' ? line.itemId : '',
    )
    const [first = '', second = '', third = ''] = ids
    await bench.market.buy([Number(third)], 'never')
    expect(
      await unwrap(
        client.reprice(DOTA, [
          { itemId: first, priceMinor: 90n },
          { itemId: third, priceMinor: 90n },
        ]),
      ),
    ).toEqual([
      { itemId: first, isDone: true },
      { itemId: third, isDone: false },
    ])
    expect(await unwrap(client.unlist(DOTA, [second, third]))).toEqual([
      { itemId: second, isDone: true },
      { itemId: third, isDone: false },
    ])
    const { rows } = await unwrap(client.round(DOTA))
    expect(rows.map(({ itemId, stage }) => [itemId, stage])).toEqual([
      [first, 'on_sale'],
      [third, 'sold'],
    ])
  })

  it('is found in the market’s list if the answer to the call that made it was lost', async () => {
    await prepareToSell(bench, client, DOTA)
    const [assetId = ''] = bench.assetsOf(DOTA)
    bench.market.begin('answer-lost')
    expect((await client.list(DOTA, [{ assetId, priceMinor: 100n }])).kind).toBe('unanswered')
    expect((await unwrap(client.round(DOTA))).rows).toMatchObject([{ assetId, stage: 'on_sale' }])
  })

  it('does not sell while its seller is offline', async () => {
    await prepareToSell(bench, client, DOTA)
    const [line] = await unwrap(
      client.list(DOTA, [{ assetId: bench.assetsOf(DOTA)[0] ?? '', priceMinor: 100n }]),
    )
    await bench.advanceSteam(240)
    const itemId = line?.kind === 'listed' ? Number(line.itemId) : 0
    expect(await bench.market.buy([itemId], 'accepts')).toEqual({
      kind: 'refused',
      error: 'The seller is not online.',
    })
  })
})

describe('a market in trouble', () => {
  it.each([
    ['bad-gateway', 'HTTP 502'],
    ['technical-works', 'HTTP 503'],
    ['html-instead', 'an answer that is not JSON'],
    ['false-with-500', 'HTTP 500'],
    ['guard-page', 'HTTP 403'],
  ] as const)('with the fault %s gives no answer, so the call may have worked', async (fault, because) => {
    bench.market.begin(fault)
    expect(await client.list(DOTA, [{ assetId: '1', priceMinor: 1n }])).toEqual({
      kind: 'unanswered',
      because,
    })
  })

  it('can refuse with a number instead of a text', async () => {
    bench.market.begin('false-with-number')
    expect(await client.money()).toEqual({ kind: 'refused', code: '3001' })
  })

  it('can quote the address of a call in a refusal, but the client’s answer does not contain the key', async () => {
    const key = bench.market.open(bench.seller.steamId)
    bench.market.begin('address-in-refusal')
    const answer = await bench.clientWith(key).money()
    expect(answer).toMatchObject({ kind: 'refused', code: expect.stringContaining('/api/v2/get-money?') })
    expect(JSON.stringify(answer)).not.toContain(key)
  })

  it('gets no calls about a game for ten minutes if that game’s host refuses the key, but still gets calls about other games', async () => {
    bench.market.begin('key-of-one-host')
    let timesBegun = 0
    const list = () =>
      client.list(DOTA, [{ assetId: '1', priceMinor: 1n }], async () => {
        timesBegun += 1
      })
    expect(await list()).toEqual({ kind: 'refused', code: 'bad_key' })
    const callsBefore = bench.market.log.length
    expect(await list()).toEqual({ kind: 'refused', code: 'bad_key' })
    expect(await client.round(DOTA)).toEqual({ kind: 'refused', code: 'bad_key' })
    expect([bench.market.log.length, timesBegun]).toEqual([callsBefore, 1])
    expect((await client.round(CS)).kind).toBe('answered')
    expect((await client.money()).kind).toBe('answered')
    bench.market.end('key-of-one-host')
    bench.advanceMachine(10 * 60_000)
    expect((await client.round(DOTA)).kind).toBe('answered')
  })

  it('that refuses the key, even with an unusual text, is not called for ten minutes', async () => {
    bench.market.begin('key-in-words')
    expect(await client.money()).toEqual({ kind: 'locked_out' })
    bench.market.end('key-in-words')
    expect(await client.money()).toEqual({ kind: 'locked_out' })
    bench.advanceMachine(10 * 60_000)
    expect((await client.money()).kind).toBe('answered')
  })

  it.each(['key-unauthorized', 'key-forbidden'] as const)(
    'that refuses the key with a status alone (%s) counts as refusing it only if a call a minute later is refused too',
    async (fault) => {
      bench.market.begin(fault)
      expect((await client.round(DOTA)).kind).toBe('refused')
      const callsBefore = bench.market.log.length
      expect(await client.money()).toEqual({ kind: 'busy' })
      expect(await client.ready()).toEqual({ kind: 'busy' })
      expect(bench.market.log).toHaveLength(callsBefore + 1)
      bench.advanceMachine(60_000)
      // The next two refusals do not count: one may be about the access token, the other is from a single game's host.
      expect((await client.keepOnline(bench.accessToken())).kind).toBe('refused')
      expect((await client.round(DOTA)).kind).toBe('refused')
      expect(await client.money()).toEqual({ kind: 'locked_out' })
      expect(await client.ready()).toEqual({ kind: 'locked_out' })
      expect(bench.market.log).toHaveLength(callsBefore + 4)
      bench.market.end(fault)
      bench.advanceMachine(60_000)
      expect((await client.money()).kind).toBe('answered')
    },
  )

  it('that sometimes refuses the key with a status alone does not count as refusing the key', async () => {
    for (let times = 0; times < 3; times += 1) {
      bench.market.begin('key-unauthorized', 1)
      expect(await client.money()).toEqual({ kind: 'busy' })
      bench.advanceMachine(60_000)
      expect((await client.money()).kind).toBe('answered')
    }
  })

  it('that refuses the key with a status alone in two simultaneous calls is asked again', async () => {
    bench.market.begin('key-unauthorized', 2)
    expect(await Promise.all([client.money(), client.money()])).toEqual([{ kind: 'busy' }, { kind: 'busy' }])
    bench.advanceMachine(60_000)
    expect((await client.money()).kind).toBe('answered')
  })

  it('that answers 401 to an access token is still called with the key', async () => {
    bench.market.begin('token-unauthorized')
    expect(await client.keepOnline(bench.accessToken())).toEqual({ kind: 'refused', code: 'HTTP 401' })
    expect((await client.money()).kind).toBe('answered')
  })

  it('is understood if it sends false for an empty list, or prices as integers', async () => {
    bench.market.begin('empty-says-false')
    expect(await unwrap(client.round(DOTA))).toEqual({ rows: [], due: [] })
    expect(await unwrap(client.outcomes(DOTA, new Date(0)))).toEqual([])
    await prepareToSell(bench, client, DOTA)
    bench.market.begin('price-in-units')
    await unwrap(client.list(DOTA, [{ assetId: bench.assetsOf(DOTA)[0] ?? '', priceMinor: 1_234n }]))
    const { rows } = await unwrap(client.round(DOTA))
    expect(scaleOf('USD')?.isPrice(rows[0]?.price ?? 0, 1_234n)).toBe(true)
  })

  it('delays a call no longer than the call’s deadline', async () => {
    client = bench.clientWith(bench.market.open(bench.seller.steamId), { deadlineMs: 50 })
    bench.market.begin('slow')
    expect((await client.money()).kind).toBe('unanswered')
  })
})

it('an empty public list of lowest prices counts as an answer without prices', async () => {
  expect(await unwrap(client.lowestPrices(DOTA))).toEqual(new Map())
})

it('a list of lowest prices is read even if one of its rows has no price', async () => {
  await prepareToSell(bench, client, DOTA)
  await unwrap(client.list(DOTA, [{ assetId: bench.assetsOf(DOTA)[0] ?? '', priceMinor: 1_234n }]))
  bench.market.begin('strange-rows')
  expect([...(await unwrap(client.lowestPrices(DOTA))).keys()]).toHaveLength(1)
})
