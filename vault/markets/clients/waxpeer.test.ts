/** The client of Waxpeer against both sandboxes, over real HTTP and a real socket; only time is simulated. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { DOTA, type MarketBench, openMarketBench, unwrap } from '../../testing/market-bench.ts'
import { openWaxpeerBench, type WaxpeerBench } from '../../testing/waxpeer-bench.ts'
import type { Market } from '../market.ts'

let bench: MarketBench
let client: Market
let token: string
let waxpeer: WaxpeerBench

beforeAll(async () => {
  bench = await openMarketBench()
})
beforeEach(async () => {
  await bench.begin()
  token = bench.accessToken()
  client = bench.waxpeerWith(bench.market.waxpeer.open(bench.seller.steamId))
  waxpeer = openWaxpeerBench(bench, { client: () => client, token })
})
afterEach(async () => {
  client.close()
  await bench.end()
})
afterAll(() => bench.close())

/** Advances the clock, keeps the account online, and counts something. */
const keepOnlineAndCount = (count: () => number, stepMs: number) => async (): Promise<number> => {
  bench.advanceMachine(stepMs)
  await client.keepOnline(token)
  return count()
}

describe('an account', () => {
  it('needs a socket, a trade link, and an access token that the client sends again after an hour', async () => {
    expect(await unwrap(client.ready())).toEqual({
      problems: ['no_trade_token', 'offline'],
      feeBp: 500n,
    })
    expect(await client.keepOnline('nothing')).toEqual({
      kind: 'refused',
      code: 'Need to refresh access token',
    })
    await waxpeer.goOnline()
    const countTokenCalls = () =>
      bench.market.log.filter(({ path }) => path === '/v1/user/steam-token').length
    const callsBefore = countTokenCalls()
    await unwrap(client.keepOnline(token))
    expect(countTokenCalls()).toBe(callsBefore)
    bench.advanceMachine(3_600_000)
    await waxpeer.goOnline()
    expect(countTokenCalls()).toBe(callsBefore + 1)
  })

  it('may sell although its wallet is shown in a form that the client does not book', async () => {
    await waxpeer.goOnline()
    bench.market.begin('wallet-in-dollars')
    expect(await unwrap(client.ready())).toEqual({ problems: [], feeBp: 500n })
    expect((await client.money()).kind).toBe('unanswered')
  })

  it('cannot sell with the key of another account, and makes no more calls if the key is unknown', async () => {
    client.close()
    client = bench.waxpeerWith(bench.market.waxpeer.open('76561198000000000'))
    expect((await unwrap(client.ready())).problems).toContain('other_account')
    client = bench.waxpeerWith('an unknown key')
    expect(await client.money()).toEqual({ kind: 'locked_out' })
    const callsBefore = bench.market.log.length
    expect(await client.money()).toEqual({ kind: 'locked_out' })
    expect(bench.market.log).toHaveLength(callsBefore)
  })

  it('pauses its calls for a minute after a bare 401 about the key, but not after a 401 about the token', async () => {
    bench.market.begin('key-unauthorized')
    expect(await client.ready()).toEqual({ kind: 'busy' })
    bench.market.end('key-unauthorized')
    expect(await client.ready()).toEqual({ kind: 'busy' })
    bench.advanceMachine(60_000)
    bench.market.begin('token-unauthorized')
    expect(await client.keepOnline(token)).toEqual({ kind: 'refused', code: 'HTTP 401' })
    expect((await client.ready()).kind).toBe('answered')
  })

  it('has a key that the client’s answer does not contain, even if a refusal quotes the address of the call', async () => {
    const key = bench.market.waxpeer.open(bench.seller.steamId)
    client.close()
    client = bench.waxpeerWith(key)
    bench.market.begin('address-in-refusal')
    const answer = await client.ready()
    expect(answer).toMatchObject({ kind: 'refused', code: expect.stringContaining('/v1/user?') })
    expect(JSON.stringify(answer)).not.toContain(key)
  })

  it('makes at most one call a second', async () => {
    const beganMs = bench.machineMs()
    // A round makes three calls.
    for (let times = 0; times < 3; times += 1) await unwrap(client.round(DOTA))
    expect(bench.machineMs() - beganMs).toBe(8_000)
  })

  it('reopens its socket if pings are not answered', async () => {
    await waxpeer.goOnline()
    const countOpenings = () => bench.market.log.filter(({ host }) => host === 'wssex.waxpeer.com').length
    expect(countOpenings()).toBe(1)
    bench.market.begin('socket-silent')
    await expect.poll(keepOnlineAndCount(countOpenings, 15_000), { timeout: 60_000 }).toBe(2)
    bench.market.end('socket-silent')
    await waxpeer.goOnline()
  })

  it('cannot be kept online if its socket does not open for a minute', async () => {
    bench.market.begin('socket-refused')
    expect((await client.keepOnline(token)).kind).toBe('answered')
    bench.advanceMachine(61_000)
    expect(await client.keepOnline(token)).toEqual({
      kind: 'unanswered',
      because: 'its socket does not open',
    })
    bench.market.end('socket-refused')
    bench.advanceMachine(5_000)
    await waxpeer.goOnline()
  })

  it('asks to be put on sale again after an hour, or after Waxpeer took its listings off sale', async () => {
    const assetId = await waxpeer.listOne(DOTA)
    const countChecks = () => bench.market.log.filter(({ path }) => path === '/v1/check-wss-user').length
    const checksBefore = countChecks()
    bench.market.begin('sales-off')
    await expect.poll(keepOnlineAndCount(countChecks, 10_000), { timeout: 60_000 }).toBe(checksBefore + 1)
    expect((await bench.market.waxpeer.buy([waxpeer.findItem(assetId)?.itemId ?? 0], 'accepts')).kind).toBe(
      'bought',
    )
    bench.advanceMachine(3_600_000)
    await waxpeer.goOnline()
    expect(countChecks()).toBeGreaterThan(checksBefore + 1)
  })

  it.each(['sales-refused', 'sales-pending'] as const)(
    'is kept online while Waxpeer puts nothing on sale (%s), and shows the reason after some minutes',
    async (fault) => {
      bench.market.begin(fault)
      await waxpeer.goOnline()
      expect(client.obstacle?.()).toBeUndefined()
      const obstacleAfter = keepOnlineAndCount(() => Number(client.obstacle?.() !== undefined), 20_000)
      await expect.poll(obstacleAfter, { timeout: 60_000 }).toBe(1)
      expect(client.obstacle?.()).toBe('Connect to the websocket first')
      expect((await client.keepOnline(token)).kind).toBe('answered')
      bench.market.end(fault)
      await expect.poll(obstacleAfter, { timeout: 60_000 }).toBe(0)
    },
  )
})

describe('a listing', () => {
  it('of several items needs an inventory that was read, keeps ids of 19 digits, and has a result for each', async () => {
    await waxpeer.goOnline()
    const lines = bench
      .assetsOf(DOTA)
      .map((assetId, index) => ({ assetId, priceMinor: BigInt(1_234 + index) }))
    const first = lines.slice(0, 1)
    expect(await unwrap(client.list(DOTA, first))).toMatchObject([{ kind: 'refused', retry: true }])
    await unwrap(client.refresh(DOTA))
    await bench.advanceSteam(15)
    const answers = await unwrap(client.list(DOTA, [...lines, { assetId: '42', priceMinor: 1n }]))
    expect(answers.map(({ kind }) => kind)).toEqual(['listed', 'listed', 'listed', 'refused'])
    const { rows } = await unwrap(client.round(DOTA))
    expect(rows.map(({ assetId, stage, price }) => [assetId, stage, price])).toEqual(
      lines.map(({ assetId, priceMinor }) => [assetId, 'on_sale', Number(priceMinor) / 100]),
    )
  })

  it('is made even if another line of its call failed without naming an item', async () => {
    await waxpeer.prepareToSell(DOTA)
    bench.market.begin('failed-without-id')
    const lines = [bench.assetsOf(DOTA)[0] ?? '', '42'].map((assetId) => ({ assetId, priceMinor: 100n }))
    expect((await unwrap(client.list(DOTA, lines))).map(({ kind }) => kind)).toEqual(['listed', 'refused'])
  })

  it('is made or changed at most twice in two minutes, and the client does not make a third call', async () => {
    const assetId = await waxpeer.listOne(DOTA)
    const reprice = () => unwrap(client.reprice(DOTA, [{ itemId: assetId, priceMinor: 90n }]))
    expect(await reprice()).toEqual([{ itemId: assetId, isDone: true }])
    const callsBefore = bench.market.log.length
    expect(await reprice()).toEqual([])
    const listCalls: string[][] = []
    const list = (...assetIds: string[]) =>
      unwrap(
        client.list(
          DOTA,
          assetIds.map((each) => ({ assetId: each, priceMinor: 90n })),
          async (lines) => void listCalls.push(lines.map((line) => line.assetId)),
        ),
      )
    expect(await list(assetId)).toEqual([{ kind: 'postponed', assetId }])
    expect([bench.market.log.length, listCalls]).toEqual([callsBefore, []])
    const [, other = ''] = bench.assetsOf(DOTA)
    expect((await list(assetId, other)).map(({ kind }) => kind)).toEqual(['listed', 'postponed'])
    expect(listCalls).toEqual([[other]])
    bench.advanceMachine(121_000)
    expect(await reprice()).toEqual([{ itemId: assetId, isDone: true }])
  })

  it('waits as long as Waxpeer demands, and the client makes no earlier call', async () => {
    const assetId = await waxpeer.listOne(DOTA)
    const itemId = assetId
    await unwrap(client.reprice(DOTA, [{ itemId, priceMinor: 90n }]))
    await unwrap(client.unlist(DOTA, [itemId]))
    client.close()
    // A vault that was started again does not know the last changes.
    client = bench.waxpeerWith(bench.market.waxpeer.open(bench.seller.steamId))
    const list = () => unwrap(client.list(DOTA, [{ assetId, priceMinor: 100n }]))
    expect(await list()).toEqual([{ kind: 'postponed', assetId }])
    const callsBefore = bench.market.log.length
    expect(await list()).toEqual([{ kind: 'postponed', assetId }])
    expect(bench.market.log).toHaveLength(callsBefore)
    bench.advanceMachine(121_000)
    expect(await list()).toMatchObject([{ kind: 'listed', assetId }])
  })

  it('that is taken down in a call of its own counts as down even if Waxpeer says only how many it took down', async () => {
    const itemId = await waxpeer.listOne(DOTA)
    bench.market.begin('names-no-removed')
    expect(await unwrap(client.unlist(DOTA, [itemId, '42']))).toEqual([
      { itemId, isDone: false },
      { itemId: '42', isDone: false },
    ])
    await unwrap(client.list(DOTA, [{ assetId: itemId, priceMinor: 100n }]))
    expect(await unwrap(client.unlist(DOTA, [itemId]))).toEqual([{ itemId, isDone: true }])
  })

  it('of a sold item can be neither repriced nor taken down, but a listing on sale can be taken down', async () => {
    const { assetId } = await waxpeer.sell(DOTA, 'never')
    expect(await unwrap(client.reprice(DOTA, [{ itemId: assetId, priceMinor: 90n }]))).toEqual([
      { itemId: assetId, isDone: false },
    ])
    expect(await unwrap(client.unlist(DOTA, [assetId]))).toEqual([{ itemId: assetId, isDone: false }])
    const [, other = ''] = bench.assetsOf(DOTA)
    await unwrap(client.list(DOTA, [{ assetId: other, priceMinor: 100n }]))
    expect(await unwrap(client.unlist(DOTA, [other]))).toEqual([{ itemId: other, isDone: true }])
  })

  it('is found in the market’s list if the answer to the call that made it was lost', async () => {
    await waxpeer.prepareToSell(DOTA)
    const [assetId = ''] = bench.assetsOf(DOTA)
    bench.market.begin('answer-lost')
    expect((await client.list(DOTA, [{ assetId, priceMinor: 100n }])).kind).toBe('unanswered')
    expect((await unwrap(client.round(DOTA))).rows).toMatchObject([{ assetId, stage: 'on_sale' }])
  })
})
