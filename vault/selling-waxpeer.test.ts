/** The vault sells on two markets, each item on one of them. On Waxpeer it makes the calls in the required order. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { GAMES } from '../contract/games.ts'
import { openSellingBench } from './testing/selling-bench.ts'
import { BOT, type TestBench } from './testing/test-bench.ts'

const FAMILY = 'market.csgo.com'
const WAXPEER = 'waxpeer.com'

let bench: TestBench
let seller: string

beforeAll(async () => {
  ;({ bench, seller } = await openSellingBench({ markets: [FAMILY, WAXPEER] }))
})
afterAll(() => {
  bench.restart()
  return bench.close()
})

async function roundsUntil(holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 40 && !holds(); tries += 1) {
    await bench.runRounds(1)
    await bench.market.look()
  }
}

const onSaleAt = (market: 'family' | 'waxpeer') =>
  (market === 'family' ? bench.market : bench.market.waxpeer)
    .world()
    .items.filter(({ status }) => status === 'on_sale')

/** Buys an item. Retries until Waxpeer's socket, which is real, is open: before that, the seller is offline. */
async function buyAtWaxpeer(itemId: number, as: 'accepts' | 'declines'): Promise<void> {
  await expect
    .poll(
      async () => {
        await bench.vault().round()
        return (await bench.market.waxpeer.buy([itemId], as)).kind
      },
      { timeout: 60_000 },
    )
    .toBe('bought')
}

/** Runs rounds until the item was given, and then 12 more, in which the vault learns that it was paid. */
async function waitUntilPaid(itemId: number | undefined): Promise<void> {
  const isGiven = () =>
    bench.market.waxpeer.world().items.some((item) => item.itemId === itemId && item.status === 'given')
  await roundsUntil(isGiven)
  await bench.runRounds(12)
}

async function readReportsOn(market: string): Promise<string[][]> {
  const { rows } = await bench.database.pool.query<{ reference: string; kind: string }>(
    `select reference, coalesce(told->'report'->>'kind', told->>'kind') as kind from vault_told
     where market = $1 order by n, part`,
    [market],
  )
  return rows.map(({ reference, kind }) => [reference, kind])
}

it('an item is listed where the proceeds are highest; until a market has paid, its stated fee counts', async () => {
  bench.market.begin('lies-fee')
  await bench.makeWish(bench.addStock(BOT, 1), { destination: 'seller' })
  await roundsUntil(() => onSaleAt('waxpeer').length === 1)
  bench.market.end('lies-fee')
  expect([onSaleAt('family').length, onSaleAt('waxpeer').length]).toEqual([0, 1])
  const [item] = onSaleAt('waxpeer')
  await buyAtWaxpeer(item?.itemId ?? 0, 'accepts')
  await waitUntilPaid(item?.itemId)
  // The real fee is known now, so the markets are equal, and the first one gets the next item: see the next test.
})

it('an item that was taken down on one market is sold on the other: its offer is reported, then confirmed, and the sale is paid', async () => {
  await bench.makeWish(bench.addStock(BOT, 2), { destination: 'seller' })
  await roundsUntil(() => onSaleAt('family').length === 2)
  expect([onSaleAt('family').length, onSaleAt('waxpeer').length]).toEqual([2, 0])

  bench.switchMarketOff(FAMILY)
  await roundsUntil(() => onSaleAt('waxpeer').length === 2)
  expect([onSaleAt('family').length, onSaleAt('waxpeer').length]).toEqual([0, 2])

  const [item] = onSaleAt('waxpeer')
  await buyAtWaxpeer(item?.itemId ?? 0, 'accepts')
  await waitUntilPaid(item?.itemId)
  const asset = item?.assetId ?? ''
  const reports = (await readReportsOn(WAXPEER))
    .filter(([reference]) => reference === asset)
    .map(([, kind]) => kind)
  expect(reports).toEqual(['listing', 'sold', 'delivered', 'paid'])
  const calls = bench.market.log.map(({ path }) => path)
  // One report for this sale, and one for the sale of the first test.
  expect(calls.filter((path) => path === '/v1/steam-trade')).toHaveLength(2)
  // After the report, right before the vault confirms the offer, it asks whether the sale is still wanted.
  expect(calls.lastIndexOf('/v1/check-many-steam')).toBeGreaterThan(calls.lastIndexOf('/v1/steam-trade'))
  expect(bench.steam.world().offers.filter(({ sender }) => sender === seller)).toHaveLength(2)
  const { rows } = await bench.database.pool.query(
    'select market, free::int from market_balance where free > 0',
  )
  expect(rows).toEqual([{ market: WAXPEER, free: expect.any(Number) }])
})

it('an item whose buyer declined the offer is listed again, and its next sale has another number in the books', async () => {
  const [item] = onSaleAt('waxpeer')
  const asset = item?.assetId ?? ''
  await buyAtWaxpeer(item?.itemId ?? 0, 'declines')
  await roundsUntil(() => onSaleAt('waxpeer').some(({ itemId }) => itemId !== item?.itemId))
  const relisted = onSaleAt('waxpeer').find(({ assetId }) => assetId === asset)
  await buyAtWaxpeer(relisted?.itemId ?? 0, 'accepts')
  await waitUntilPaid(relisted?.itemId)
  const reports = (await readReportsOn(WAXPEER)).filter(([reference]) => reference?.startsWith(asset))
  expect(reports).toEqual([
    [asset, 'listing'],
    [asset, 'sold'],
    [asset, 'cancelled'],
    ...['listing', 'sold', 'delivered', 'paid'].map((kind) => [`${asset}.2`, kind]),
  ])
})

it('one market can be switched off alone, and its listings are taken down', async () => {
  await bench.makeWish(bench.addStock(BOT, 1), { destination: 'seller' })
  await roundsUntil(() => onSaleAt('waxpeer').length === 1)
  bench.switchMarketOff(WAXPEER)
  bench.switchMarketOn(FAMILY)
  await roundsUntil(() => onSaleAt('family').length === 1)
  expect([onSaleAt('family').length, onSaleAt('waxpeer').length]).toEqual([1, 0])
})

it('a round reads the inventory of each game once, for the listings and prices of both markets', async () => {
  bench.switchMarketOn(WAXPEER)
  // After a start, all periodic requests are due.
  bench.restart()
  const callsBefore = bench.calls.length
  await bench.vault().round()
  const reads = bench.calls
    .slice(callsBefore)
    .filter((path) => path.includes('/GetInventoryItemsWithDescriptions/'))
  expect(reads).toHaveLength(GAMES.length)
})
