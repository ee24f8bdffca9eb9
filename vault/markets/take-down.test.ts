/** Listings of items that the vault's limits would never let leave are taken down. */
import { expect, it } from 'vitest'
import { createNeeds } from '../needs.ts'
import { APP, createOutside } from '../testing/outside.ts'
import { createFold } from './book.ts'
import { createDesk } from './desk.ts'
import { DEFAULT_RULES } from './price-policy.ts'
import { scaleOf } from './scale.ts'
import { createSeller } from './seller.ts'

const ACCOUNT = '76561198000000009'
const HOUR_MS = 3_600_000
/** The most that the limits ever let leave at once. */
const MOST_MINOR = 1_000n

/** A desk that sells `Cap`, at the price that Steam gives. */
function createBench() {
  const outside = createOutside()
  let nowMs = 1_800_000_000_000
  let priceMinor = 900n
  const now = () => new Date(nowMs)
  const { book, add } = createFold()
  const journal = {
    book: () => book,
    add: (entry: Parameters<typeof add>[0]['entry']) => add({ at: now(), entry }),
  }
  const scale = scaleOf('USD')
  if (scale === undefined) throw new Error('dollars have no scale')
  const { market, giftOffers } = outside
  const marketAccount = { market: market.name, account: ACCOUNT, isFirst: true }
  const seller = createSeller({
    ...{ market, marketAccount, journal, now, giftOffers, scale },
    ownAccounts: new Set([ACCOUNT]),
    hasRoom: () => true,
    announce: async () => {},
    alarm() {},
  })
  const cap = { assetId: '200', contextId: '2', marketHashName: 'Cap', isTradable: true }
  outside.owned.add(cap.assetId)
  const desk = createDesk({
    ...{ market, marketAccount, journal, now, seller, needs: createNeeds(now) },
    account: { recentItems: async () => new Map([[cap.assetId, cap]]), accessToken: async () => 'token' },
    tradeToken: undefined,
    pricing: {
      rules: DEFAULT_RULES,
      mayLose: true,
      needsCost: false,
      priceOf: async () => priceMinor,
      mayLeave: (minor) => minor <= MOST_MINOR,
      till: { costs: async () => new Map() },
      lowest: { read: async () => new Map(), noteOwn() {} },
    },
    till: { isOff: async () => false },
    reportBalance: async () => {},
    isOff: () => false,
    say() {},
  })
  return {
    async list() {
      await desk.tend()
      await desk.list(APP, [{ assetId: cap.assetId, priceMinor: 899n }])
    },
    async repriceAt(minor: bigint) {
      priceMinor = minor
      nowMs += HOUR_MS
      await desk.reprice()
    },
    onSale: () =>
      book.listings.flatMap(({ state, priceMinor: price }) => (state === 'on_sale' ? [price] : [])),
  }
}

it('an item whose price rises above the limits is not sold at its old price', async () => {
  const { list, repriceAt, onSale } = createBench()
  await list()
  expect(onSale()).toEqual([899n])
  await repriceAt(1_000n)
  expect(onSale()).toEqual([999n])
  await repriceAt(5_000n)
  expect(onSale()).toEqual([])
})
