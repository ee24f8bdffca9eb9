/** Which items the accounts offer, and which of the vault's own prices they know. */
import { expect, it } from 'vitest'
import type { OwnItem } from '../steam/look.ts'
import { createOutside } from '../testing/outside.ts'
import { bookOf, type DatedEntry, evolve } from './book.ts'
import { createShop } from './shop.ts'

const MARKET = 'market.csgo.com'
const [SELLER, OTHER] = ['76561198000000009', '76561198000000008'] as const
const SELLERS = [SELLER, OTHER]
const MINUTE_MS = 60_000

/** Two selling accounts at one market. `inventories`: their items, by account. */
function createBench(inventories: Record<string, readonly OwnItem[]>) {
  const outside = createOutside()
  let nowMs = 1_800_000_000_000
  const now = () => new Date(nowMs)
  let book = bookOf([])
  const listed: string[] = []
  const prices = new Map<string, bigint>([['Cap', 1_000n]])
  const add = async (entry: DatedEntry['entry']) => {
    book = evolve(book, { at: now(), entry })
  }
  const shop = createShop({
    accesses: SELLERS.map((steamId) => ({
      market: MARKET,
      steamId,
      mayLose: true,
      sellsItself: false,
      key: 'k',
    })),
    clientOf: () => ({
      ...outside.market,
      name: MARKET,
      lowestPrices: async () => ({ kind: 'answered', value: prices }),
      async list(appId, lines) {
        for (const { assetId, priceMinor } of lines) {
          listed.push(`${assetId} ${priceMinor}`)
          outside.owned.add(assetId)
        }
        return outside.market.list(appId, lines)
      },
    }),
    isOff: () => false,
    record: { book: () => book, add, reportsAfter: () => [], forget: () => {} },
    till: {
      lastReported: async () => 0,
      report: async () => {},
      costs: async () => new Map(),
      isOff: async () => false,
      reportBalance: async () => {},
    },
    accountOf: (steamId) => ({
      giftOffers: outside.giftOffers,
      freeItems: async () => new Map(inventories[steamId]?.map((item) => [item.assetId, item] as const)),
      accessToken: async () => 'token',
    }),
    ownAccounts: new Set(SELLERS),
    tradeTokenOf: () => undefined,
    priceOf: async (_, name) => (name === 'Cap' ? 1_000n : undefined),
    hasRoom: () => true,
    arrivals: () => 0,
    isLeaving: () => false,
    now,
    say: () => {},
  })
  return {
    listed,
    prices,
    async runRounds(count: number) {
      for (let round = 0; round < count; round += 1) {
        await shop.round()
        nowMs += 2 * MINUTE_MS
      }
    },
  }
}

const itemsNamed = (marketHashName: string, from: number, count: number): OwnItem[] =>
  Array.from({ length: count }, (_, index) => ({
    assetId: String(from + index),
    marketHashName,
    isTradable: true,
  }))

it('items without a price do not keep the items behind them in the inventory from the market', async () => {
  const bench = createBench({
    [SELLER]: [...itemsNamed('Unpriced', 100, 45), ...itemsNamed('Cap', 200, 2)],
  })
  await bench.runRounds(2)
  expect(bench.listed).toEqual([])
  await bench.runRounds(1)
  expect(bench.listed).toEqual(['200 999', '201 999'])
})

it('an item is listed at the price of the vault’s own listing if that is the cheapest, also by another account', async () => {
  const inventories: Record<string, readonly OwnItem[]> = { [SELLER]: itemsNamed('Cap', 200, 1) }
  const bench = createBench(inventories)
  await bench.runRounds(1)
  expect(bench.listed).toEqual(['200 999'])
  // The market's list contains our listing.
  bench.prices.set('Cap', 999n)
  inventories[SELLER] = itemsNamed('Cap', 200, 2)
  inventories[OTHER] = itemsNamed('Cap', 300, 1)
  await bench.runRounds(2)
  expect(bench.listed.slice(1).sort()).toEqual(['201 999', '300 999'])
})
