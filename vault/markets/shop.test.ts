/** Which items the accounts offer, and which of each other's prices they know. */
import { describe, expect, it } from 'vitest'
import { createNeeds } from '../needs.ts'
import type { OwnItem } from '../steam/look.ts'
import { APP, createOutside } from '../testing/outside.ts'
import { createFold, type DatedEntry } from './book.ts'
import type { Row } from './market.ts'
import { createShop, type ShopParts } from './shop.ts'
import type { Unlisted } from './unlisted.ts'

const MARKET = 'market.csgo.com'
const [SELLER, OTHER] = ['76561198000000009', '76561198000000008'] as const
const SELLERS = [SELLER, OTHER]
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** Two selling accounts at one market. `inventories`: their items, by account. */
function createBench(
  inventories: Record<string, readonly OwnItem[]>,
  { mayLose = true, refuses = false, mostMinor = 100_000n } = {},
) {
  const outside = createOutside()
  let nowMs = 1_800_000_000_000
  const now = () => new Date(nowMs)
  const { book, add: addDated } = createFold()
  const listed: string[] = []
  /** The listings whose price the market was asked to change. */
  const repriced: string[] = []
  /** The last report to the till about items that are not on sale. */
  let unlisted: readonly Unlisted[] = []
  const costs = new Map<string, bigint>()
  let isOff = false
  const prices = new Map<string, bigint>([['Cap', 1_000n]])
  const leaving = new Set<string>()
  let [lists, readings, looks, leavingReads] = [0, 0, 0, 0]
  /** Steam's prices wait for `held`. `reached` is called when one is asked for. */
  let steam = { held: Promise.resolve(), reached() {} }
  const add = (entry: DatedEntry['entry']): void => {
    addDated({ at: now(), entry })
  }
  const parts: ShopParts = {
    accesses: SELLERS.map((steamId) => ({
      market: MARKET,
      steamId,
      mayLose,
      sellsItself: false,
      key: 'k',
    })),
    clientOf: ({ steamId }) => ({
      ...outside.market,
      name: MARKET,
      async lowestPrices() {
        lists += 1
        return prices.size === 0
          ? { kind: 'unanswered', because: 'lost' }
          : { kind: 'answered', value: new Map(prices) }
      },
      async list(appId, lines, begin) {
        if (refuses) return { kind: 'refused', code: 'no listings today' }
        for (const { assetId, priceMinor } of lines) {
          listed.push(`${assetId} ${priceMinor}`)
          outside.owned.add(assetId)
        }
        return outside.market.list(appId, lines, begin)
      },
      async reprice(_, lines) {
        repriced.push(...lines.map(({ itemId }) => itemId))
        return { kind: 'answered', value: lines.map(({ itemId }) => ({ itemId, isDone: true })) }
      },
      async round(appId) {
        looks += 1
        const round = await outside.market.round(appId)
        const isOurs = ({ assetId }: Row) => inventories[steamId]?.some((item) => item.assetId === assetId)
        return round.kind === 'answered'
          ? { ...round, value: { ...round.value, rows: round.value.rows.filter(isOurs) } }
          : round
      },
    }),
    isOff: () => false,
    record: { book: () => book, add, reportsAfter: () => [], forget: () => {} },
    till: {
      lastReported: async () => 0,
      report: async () => {},
      costs: async () => costs,
      isOff: async () => isOff,
      reportBalance: async () => {},
      async reportUnlisted(rows) {
        unlisted = rows
      },
    },
    accountOf: (steamId) => ({
      giftOffers: outside.giftOffers,
      async freeItems() {
        readings += 1
        return new Map(inventories[steamId]?.map((item) => [item.assetId, item] as const))
      },
      accessToken: async () => 'token',
    }),
    ownAccounts: new Set(SELLERS),
    tradeTokenOf: () => undefined,
    async priceOf(_, name) {
      steam.reached()
      await steam.held
      return name === 'Cap' ? 1_000n : undefined
    },
    hasRoom: () => true,
    isWithinLimits: ({ cents }) => cents <= mostMinor,
    countArrivals: () => 0,
    leaving() {
      leavingReads += 1
      return leaving
    },
    now,
    say: () => {},
    needs: createNeeds(now),
  }
  let shop = createShop(parts)
  return {
    listed,
    repriced,
    prices,
    /** The items that are leaving by a wish. */
    leaving,
    looks: () => looks,
    leavingReads: () => leavingReads,
    async tendDesks() {
      for (const desk of shop.desks) await desk.round()
    },
    listItems: () => shop.round(),
    /** Lets one buyer buy up to `count` items. */
    buy: outside.buy,
    reprice: () => shop.reprice(),
    costs,
    switchOff() {
      isOff = true
    },
    /** The till's rows about an account's items that are not on sale. */
    async unlistedOf(account: string) {
      nowMs += MINUTE_MS
      await shop.report()
      return unlisted
        .filter((row) => row.account === account)
        .map(({ market: _, account: __, ...row }) => row)
    },
    /** Steam gives no price until `release` is called. `askedForPrice` resolves when a price is asked for. */
    holdSteam() {
      const { promise: held, resolve: release } = Promise.withResolvers<void>()
      const { promise: askedForPrice, resolve: reached } = Promise.withResolvers<void>()
      steam = { held, reached }
      return { askedForPrice, release }
    },
    /** The asset id and the price of each listing in the record. */
    pricesNow: () => book.listings.map(({ assetId, priceMinor }) => `${assetId} ${priceMinor}`),
    advanceMs(ms: number) {
      nowMs += ms
    },
    /** Forgets everything but the record. */
    restart() {
      shop = createShop(parts)
    },
    async runRounds(count: number, everyMs = 2 * MINUTE_MS) {
      for (let round = 0; round < count; round += 1) {
        for (const desk of shop.desks) await desk.round()
        await shop.round()
        await shop.reprice()
        nowMs += everyMs
      }
    },
    /** How often a list of prices and an inventory were read since the last call. */
    countReads() {
      const counts = { lists, readings }
      lists = 0
      readings = 0
      return counts
    },
    /** Ends all listings, as if the items were sold. */
    endListings() {
      for (const { itemId } of book.listings)
        if (itemId !== null) add({ kind: 'unlisted', market: MARKET, itemId })
    },
  }
}

const itemsNamed = (marketHashName: string, firstAssetId: number, count: number): OwnItem[] =>
  Array.from({ length: count }, (_, index) => ({
    assetId: String(firstAssetId + index),
    marketHashName,
    isTradable: true,
  }))

it('items without a price do not keep later items of the inventory off the market', async () => {
  const bench = createBench({
    [SELLER]: [...itemsNamed('Unpriced', 100, 45), ...itemsNamed('Cap', 200, 2)],
  })
  await bench.runRounds(2)
  expect(bench.listed).toEqual([])
  await bench.runRounds(1)
  expect(bench.listed).toEqual(['200 999', '201 999'])
})

it('an item is listed at the price of the vault’s own listing if that is the cheapest, even another account’s', async () => {
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

it('accounts do not undercut each other while the market’s list shows a former price of theirs', async () => {
  const bench = createBench({ [SELLER]: itemsNamed('Cap', 200, 1), [OTHER]: itemsNamed('Cap', 300, 1) })
  await bench.runRounds(2)
  expect(bench.pricesNow()).toEqual(['200 999', '300 999'])
  bench.prices.set('Cap', 999n)
  bench.advanceMs(3 * DAY_MS)
  await bench.runRounds(2)
  expect(bench.pricesNow()).toEqual(['200 969', '300 969'])
})

it('after a start, an account does not undercut another account whose inventory was not read yet', async () => {
  const inventories: Record<string, readonly OwnItem[]> = { [SELLER]: itemsNamed('Cap', 200, 1) }
  const bench = createBench(inventories)
  await bench.runRounds(1)
  bench.prices.set('Cap', 900n)
  bench.advanceMs(5 * MINUTE_MS)
  inventories[OTHER] = itemsNamed('Cap', 300, 1)
  await bench.runRounds(1)
  expect(bench.pricesNow()).toEqual(['200 999', '300 899'])
  bench.prices.set('Cap', 899n)
  bench.restart()
  await bench.runRounds(1)
  expect(bench.pricesNow()).toEqual(['200 899', '300 899'])
})

it('an account whose items cannot be listed does not keep another account from selling, even in long rounds', async () => {
  const bench = createBench({ [SELLER]: itemsNamed('Unpriced', 100, 1), [OTHER]: itemsNamed('Cap', 300, 1) })
  await bench.runRounds(2)
  expect(bench.listed).toEqual(['300 999'])
})

it('the price of a listing does not rise while the market gives no list of prices', async () => {
  const bench = createBench({ [SELLER]: itemsNamed('Cap', 200, 1) })
  bench.prices.set('Cap', 900n)
  await bench.runRounds(1)
  expect(bench.pricesNow()).toEqual(['200 899'])
  bench.prices.clear()
  bench.advanceMs(12 * HOUR_MS)
  await bench.runRounds(1)
  expect(bench.pricesNow()).toEqual(['200 899'])
})

it('repricing many listings reads one list of prices, and no inventory that was just read for listing', async () => {
  const bench = createBench({ [SELLER]: itemsNamed('Cap', 200, 60) })
  await bench.runRounds(4)
  expect(bench.pricesNow()).toHaveLength(60)
  bench.prices.set('Cap', 900n)
  bench.advanceMs(HOUR_MS)
  bench.countReads()
  await bench.runRounds(6, 3_000)
  expect(new Set(bench.pricesNow().map((each) => each.split(' ')[1]))).toEqual(new Set(['899']))
  expect(bench.countReads()).toEqual({ lists: 1, readings: SELLERS.length })
})

it('an item is not listed below the price of an item that was just sold but is still in the market’s list', async () => {
  const inventories: Record<string, readonly OwnItem[]> = { [SELLER]: itemsNamed('Cap', 200, 1) }
  const bench = createBench(inventories)
  await bench.runRounds(1)
  bench.endListings()
  bench.prices.set('Cap', 999n)
  inventories[SELLER] = itemsNamed('Cap', 201, 1)
  bench.advanceMs(5 * MINUTE_MS)
  await bench.runRounds(1)
  expect(bench.listed).toEqual(['200 999', '201 999'])
})

it('a new item follows the last known price of others while the market gives no list of prices', async () => {
  const inventories: Record<string, readonly OwnItem[]> = { [SELLER]: itemsNamed('Cap', 200, 1) }
  const bench = createBench(inventories)
  bench.prices.set('Cap', 900n)
  await bench.runRounds(1)
  bench.endListings()
  bench.prices.clear()
  inventories[SELLER] = itemsNamed('Cap', 201, 1)
  bench.advanceMs(5 * MINUTE_MS)
  await bench.runRounds(1)
  expect(bench.listed).toEqual(['200 899', '201 899'])
})

it('an item that a wish has given away is not listed, even if a desk read it seconds ago for repricing', async () => {
  const inventories: Record<string, readonly OwnItem[]> = { [SELLER]: itemsNamed('Cap', 200, 2) }
  const bench = createBench(inventories)
  bench.leaving.add('201')
  await bench.runRounds(1)
  expect(bench.listed).toEqual(['200 999'])
  bench.advanceMs(HOUR_MS)
  bench.countReads()
  await bench.reprice()
  expect(bench.countReads().readings).toBe(1)
  inventories[SELLER] = itemsNamed('Cap', 200, 1)
  bench.leaving.clear()
  bench.advanceMs(8_000)
  await bench.listItems()
  expect(bench.listed).toEqual(['200 999'])
})

it('a round reads the record of all wishes once per game, however many items there are', async () => {
  const bench = createBench({ [SELLER]: itemsNamed('Cap', 200, 30) })
  await bench.runRounds(1)
  expect([bench.leavingReads(), bench.listed.length]).toEqual([1, 20])
})

it('a desk checks for sales while Steam is slow with the prices of new items', async () => {
  const inventories: Record<string, readonly OwnItem[]> = { [SELLER]: itemsNamed('Cap', 200, 1) }
  const bench = createBench(inventories)
  await bench.runRounds(1)
  inventories[SELLER] = itemsNamed('Cap', 200, 3)
  const looksBefore = bench.looks()
  const { askedForPrice, release } = bench.holdSteam()
  const listing = bench.listItems()
  await askedForPrice
  await bench.tendDesks()
  expect(bench.looks()).toBe(looksBefore + 1)
  release()
  await listing
  expect(bench.listed).toHaveLength(3)
})

it('a desk checks for sales while Steam is slow with the prices of its listings, and does not reprice one that is sold', async () => {
  const bench = createBench({ [SELLER]: itemsNamed('Cap', 200, 2) })
  await bench.runRounds(1)
  bench.prices.set('Cap', 900n)
  bench.advanceMs(HOUR_MS)
  const looksBefore = bench.looks()
  const { askedForPrice, release } = bench.holdSteam()
  const repricing = bench.reprice()
  await askedForPrice
  bench.buy(1)
  await bench.tendDesks()
  expect(bench.looks()).toBe(looksBefore + 1)
  release()
  await repricing
  expect(bench.repriced).toHaveLength(1)
  expect(bench.pricesNow()).toEqual(['200 999', '201 899'])
})

describe('the till learns why items are not on sale:', () => {
  const locked = { assetId: '300', marketHashName: 'Locked', isTradable: false }

  it('Steam does not let them be traded, or the vault has no price or no cost for them', async () => {
    const inventories: Record<string, readonly OwnItem[]> = {
      [SELLER]: [...itemsNamed('Unpriced', 100, 3), ...itemsNamed('Cap', 200, 2), locked],
    }
    const bench = createBench(inventories, { mayLose: false })
    bench.costs.set('201', 500n)
    await bench.runRounds(1)
    expect(bench.listed).toHaveLength(1)
    expect(await bench.unlistedOf(SELLER)).toEqual([
      { appId: APP, reason: 'not_tradable', items: 1, name: 'Locked' },
      { appId: APP, reason: 'no_price', items: 3, name: 'Unpriced' },
      { appId: APP, reason: 'no_cost', items: 1, name: 'Cap' },
    ])
    // Now Steam lets the item be traded, a cost is known, and the items without a price have left the account.
    inventories[SELLER] = [...itemsNamed('Cap', 200, 2), { ...locked, isTradable: true }]
    bench.costs.set('200', 500n)
    await bench.runRounds(2)
    expect(bench.listed).toHaveLength(2)
    expect(await bench.unlistedOf(SELLER)).toEqual([
      { appId: APP, reason: 'no_price', items: 1, name: 'Locked' },
    ])
  })

  it('the market refuses them', async () => {
    const bench = createBench({ [SELLER]: itemsNamed('Cap', 200, 1) }, { refuses: true })
    await bench.runRounds(5)
    expect(await bench.unlistedOf(SELLER)).toEqual([{ appId: APP, reason: 'refused', items: 1, name: 'Cap' }])
  })

  it('the limits never let them leave, so a buyer would wait in vain', async () => {
    const bench = createBench({ [SELLER]: itemsNamed('Cap', 200, 1) }, { mostMinor: 900n })
    await bench.runRounds(5)
    expect(bench.listed).toEqual([])
    expect(await bench.unlistedOf(SELLER)).toMatchObject([{ reason: 'over_limits', items: 1, name: 'Cap' }])
  })

  it('the market is switched off at the till', async () => {
    const bench = createBench({ [SELLER]: itemsNamed('Unpriced', 100, 1) })
    await bench.runRounds(1)
    bench.switchOff()
    await bench.tendDesks()
    expect(await bench.unlistedOf(SELLER)).toEqual([
      { reason: 'stopped', because: 'switched off by the till' },
    ])
  })
})
