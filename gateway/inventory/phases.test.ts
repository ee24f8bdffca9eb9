import { afterEach, beforeEach, expect, test } from 'vitest'
import type { PriceHoldKind } from '../pricing/price-hold.ts'
import { savePriceHold } from '../pricing/store.ts'
import { anItem, SHOPPER, type StockedTill, setPrices, startStockedTill } from '../testing/inventory.ts'
import { quoteForTrade } from './quotes.ts'

const DOPPLER = '★ Karambit | Doppler (Factory New)'
const RUBY = `${DOPPLER} [Ruby]`
/** A dollar in millionths. */
const USD = 1_000_000n

let till: StockedTill

beforeEach(async () => {
  till = await startStockedTill()
  till.steam.owned = {
    kind: 'items',
    items: [
      // Paint 415 is Ruby. Paint 420 is Phase 3, which has no price of its own.
      { ...anItem('1', DOPPLER), paintIndex: 415 },
      { ...anItem('2', DOPPLER), paintIndex: 420 },
      anItem('3', DOPPLER),
    ],
  }
  await setPrices(till, { [DOPPLER]: 100n * USD, [RUBY]: 400n * USD })
})
afterEach(() => till.close())

/** Credits in euro cents by asset id: at 0.80 euros a dollar, less the commission of 10 %. */
const credits = async () => {
  const { items, quoteId } = await till.ask()
  return { quoteId, byAssetId: Object.fromEntries(items.map(({ id, price }) => [id, price])) }
}

const forTrade = (quoteId: string | null, assetIds: readonly string[] = ['1', '2']) =>
  till.db.transaction().execute((tx) =>
    quoteForTrade(tx, {
      depositId: till.depositId,
      steamId: SHOPPER,
      game: 'cs',
      assetIds,
      rules: till.deps.rules,
      now: till.clock.now(),
      quoteId: String(quoteId),
    }),
  )

const hold = (name: string, kind: PriceHoldKind, usdMicros: bigint | null = null) =>
  savePriceHold(till.db, { game: 'cs', name, kind, usdMicros, since: till.clock.now() })

test('a phase has its own price; an unpriced phase and an unknown paint have the price of the market name', async () => {
  const { quoteId, byAssetId } = await credits()
  expect(byAssetId).toEqual({ '1': 28_800, '2': 7_200, '3': 7_200 })
  expect(await forTrade(quoteId)).toMatchObject({
    items: [
      { assetId: '1', marketHashName: DOPPLER, pricedAs: RUBY, price: 28_800n },
      { assetId: '2', marketHashName: DOPPLER, pricedAs: DOPPLER, price: 7_200n },
    ],
  })
})

test('a fall of a phase’s price by half ends the quote, even if the price of the market name is unchanged', async () => {
  const { quoteId } = await credits()
  await setPrices(till, { [RUBY]: 200n * USD })
  expect(await forTrade(quoteId)).toEqual({ kind: 'refused', code: 'price_changed' })
})

test('a missing phase price does not end the quote; a new quote uses the price of the market name', async () => {
  const { quoteId } = await credits()
  await till.db.deleteFrom('price').where('market_hash_name', '=', RUBY).execute()
  expect(await forTrade(quoteId)).toMatchObject({ kind: 'quote', total: 36_000n })
  till.clock.advance(60_000)
  expect((await credits()).byAssetId).toEqual({ '1': 7_200, '2': 7_200, '3': 7_200 })
})

test.each<[string, string, PriceHoldKind, bigint | null, object]>([
  ['a block of the name', DOPPLER, 'blocked', null, {}],
  ['a block of the phase', RUBY, 'blocked', null, { '2': 7_200, '3': 7_200 }],
  ['a block by a pattern', '* Doppler *', 'blocked', null, {}],
  ['a price for the name', DOPPLER, 'override', 50n * USD, { '1': 3_600, '2': 3_600, '3': 3_600 }],
  ['a price for the phase', RUBY, 'override', 500n * USD, { '1': 36_000, '2': 7_200, '3': 7_200 }],
  ['a freeze of the name', DOPPLER, 'frozen', null, { '1': 7_200, '2': 7_200, '3': 7_200 }],
])('%s decides the prices', async (_, name, kind, usdMicros, expected) => {
  await hold(name, kind, usdMicros)
  expect((await credits()).byAssetId).toEqual(expected)
})

test('a block made after the quote stops the trade', async () => {
  const { quoteId } = await credits()
  await hold(RUBY, 'blocked')
  expect(await forTrade(quoteId)).toEqual({ kind: 'refused', code: 'items_unavailable' })
})

test.each<[string, PriceHoldKind, bigint | null, string]>([
  ['a block', 'blocked', null, 'items_unavailable'],
  ['a lower price', 'override', 50n * USD, 'price_changed'],
])(
  '%s of a phase, made after a quote that priced it by its market name, also applies',
  async (_, kind, usdMicros, code) => {
    const { quoteId } = await credits()
    await hold(`${DOPPLER} [Phase 3]`, kind, usdMicros)
    expect(await forTrade(quoteId, ['2'])).toEqual({ kind: 'refused', code })
    expect(await forTrade(quoteId, ['1'])).toMatchObject({ kind: 'quote', total: 28_800n })
  },
)

test.each<[string, PriceHoldKind, bigint | null]>([
  ['a price', 'override', 50n * USD],
  ['a freeze', 'frozen', null],
])('%s of the name, made after the quote, also applies to the quoted phase', async (_, kind, usdMicros) => {
  const { quoteId } = await credits()
  await hold(DOPPLER, kind, usdMicros)
  expect(await forTrade(quoteId)).toEqual({ kind: 'refused', code: 'price_changed' })
  till.clock.advance(20 * 60_000)
  expect(await forTrade(quoteId)).toEqual({ kind: 'refused', code: 'price_changed' })
})
