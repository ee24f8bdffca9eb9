import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { holdPrices, savePrices } from '../pricing/store.ts'
import { anItem, type StockedTill, setPrices, startStockedTill } from '../testing/inventory.ts'
import { sweepInventories } from './jobs.ts'
import { quoteForTrade } from './quotes.ts'

const MINUTE_MS = 60_000

let till: StockedTill

beforeEach(async () => {
  till = await startStockedTill()
})
afterEach(() => till.close())

const forTrade = (assetIds: string[], quoteId?: string | null) =>
  till.db.transaction().execute((tx) =>
    quoteForTrade(tx, {
      depositId: till.depositId,
      game: 'cs',
      assetIds,
      rules: till.deps.rules,
      now: till.clock.now(),
      ...(typeof quoteId === 'string' ? { quoteId } : {}),
    }),
  )

describe('D-13 quotes', () => {
  beforeEach(() => {
    till.steam.owned = {
      kind: 'items',
      items: [anItem('1', 'Knife'), anItem('2', 'Case'), anItem('3', 'Case')],
    }
  })

  test('a trade gets the prices that were shown, as long as they fell by no more than a tenth', async () => {
    const { quoteId } = await till.ask()
    await setPrices(till, { Knife: 18_000_000n })
    till.clock.advance(15 * MINUTE_MS - 1)
    expect(await forTrade(['1', '3'], quoteId)).toMatchObject({
      kind: 'quote',
      quoteId,
      currency: 'EUR',
      items: [
        { assetId: '1', appId: 730, contextId: '2', marketHashName: 'Knife', price: 1_440n, gross: 1_600n },
        { assetId: '3', price: 72n, gross: 80n },
      ],
      minPrice: 240n,
      total: 1_512n,
      gross: 1_680n,
    })
  })

  test('a price that fell by more than a tenth, or is none in spite of what is said, is price_changed', async () => {
    const { quoteId } = await till.ask()
    await setPrices(till, { Knife: 17_999_999n })
    expect(await forTrade(['1'], quoteId)).toEqual({ kind: 'refused', code: 'price_changed' })
    // Of all items together: a tenth of the total is what counts.
    await setPrices(till, { Knife: 20_000_000n, Case: 100_000n })
    expect(await forTrade(['1', '2'], quoteId)).toMatchObject({ kind: 'quote', total: 1_512n })
    expect(await forTrade(['2'], quoteId)).toEqual({ kind: 'refused', code: 'price_changed' })
    const other = { source: 'other', game: 'cs' } as const
    const doubt = {
      usdMicros: 90_000_000n,
      levelUsdMicros: null,
      popularity: 50,
      popularityKind: 'listings',
    } as const
    await savePrices(till.db, other, [{ marketHashName: 'Knife', ...doubt, asOf: till.clock.now() }])
    expect(await forTrade(['1'], quoteId)).toEqual({ kind: 'refused', code: 'price_changed' })
  })

  test('silence of all sources, or of the rates, ends no quote before its time', async () => {
    const { quoteId } = await till.ask()
    await till.db.deleteFrom('price').execute()
    expect(await forTrade(['1'], quoteId)).toMatchObject({ kind: 'quote', total: 1_440n })
  })

  test('loading again what has not changed writes nothing new; a new price, name or minute does', async () => {
    const first = (await till.ask()).quoteId
    expect((await till.ask()).quoteId).toBe(first)
    await setPrices(till, { Knife: 30_000_000n })
    const second = (await till.ask()).quoteId
    expect(second).not.toBe(first)
    till.clock.advance(MINUTE_MS)
    expect((await till.ask()).quoteId).not.toBe(second)
    expect(await till.db.selectFrom('quote').select('id').execute()).toHaveLength(3)
  })

  test('it says who said what and when, once a name, with the commission and the rate', async () => {
    const { quoteId } = await till.ask()
    const asOf = till.clock.now().toISOString()
    await setPrices(till, { Knife: 1_000_000n })
    const rows = await till.db.selectFrom('quote_price').selectAll().orderBy('market_hash_name').execute()
    expect(rows).toMatchObject([
      { quote_id: quoteId, market_hash_name: 'Case' },
      {
        market_hash_name: 'Knife',
        usd_micros: 20_000_000n,
        level_micros: 20_000_000n,
        said: [{ source: 'test', usdMicros: '20000000', popularity: 50, popularityKind: 'sales7d', asOf }],
      },
    ])
    const quote = await till.db.selectFrom('quote').selectAll().executeTakeFirstOrThrow()
    const rate = await till.db
      .selectFrom('exchange_rate')
      .selectAll()
      .where('id', '=', quote.rate_id)
      .execute()
    expect(quote.commission_bps).toBe(1_000)
    expect(rate).toMatchObject([{ currency: 'EUR', per_usd: '0.80000000', source: 'test' }])
  })

  test('what the operator has blocked since is refused, whatever was shown', async () => {
    const { quoteId } = await till.ask()
    await holdPrices(till.db, { game: 'cs', name: 'Case', kind: 'blocked', since: till.clock.now() })
    expect(await forTrade(['1', '2'], quoteId)).toEqual({ kind: 'refused', code: 'items_unavailable' })
    expect(await forTrade(['1'], quoteId)).toMatchObject({ kind: 'quote' })
    expect(await till.ask()).toMatchObject({ items: [{ id: '1' }], unavailableByReason: { noPrice: 2 } })
  })

  test('without a quote id the latest counts', async () => {
    await till.ask()
    await setPrices(till, { Knife: 30_000_000n })
    till.clock.advance(1_000)
    await till.ask()
    expect(await forTrade(['1'])).toMatchObject({ total: 2_160n })
  })

  test('expired: as much or more keeps what was shown, less is price_changed', async () => {
    const { quoteId } = await till.ask()
    till.clock.advance(15 * MINUTE_MS)
    expect(await forTrade(['1', '2'], quoteId)).toMatchObject({ kind: 'quote', total: 1_512n })
    await setPrices(till, { Knife: 30_000_000n })
    expect(await forTrade(['1'], quoteId)).toMatchObject({ kind: 'quote', total: 1_440n })
    await setPrices(till, { Knife: 19_900_000n })
    expect(await forTrade(['1'], quoteId)).toEqual({ kind: 'refused', code: 'price_changed' })
  })

  test('expired and no longer priced is price_changed', async () => {
    const { quoteId } = await till.ask()
    till.clock.advance(7 * 60 * MINUTE_MS)
    expect(await forTrade(['2'], quoteId)).toEqual({ kind: 'refused', code: 'price_changed' })
  })

  test('A-087 an asset that was not offered is items_unavailable, as is a quote that is not of this deposit', async () => {
    const { quoteId } = await till.ask()
    const refused = { kind: 'refused', code: 'items_unavailable' }
    expect(await forTrade(['1', '99'], quoteId)).toEqual(refused)
    expect(await forTrade([], quoteId)).toEqual(refused)
    expect(await forTrade(['1'], 'not a quote')).toEqual(refused)
    expect(await forTrade(['1'], '00000000-0000-4000-8000-00000000000f')).toEqual(refused)
  })

  test('old quotes and requests are forgotten, not those of a day', async () => {
    const { quoteId } = await till.ask()
    const left = async () => (await till.db.selectFrom('inventory_request').select('id').execute()).length
    await sweepInventories(till.deps)
    expect(await left()).toBe(1)
    till.clock.advance(25 * 60 * MINUTE_MS)
    await sweepInventories(till.deps)
    expect(await left()).toBe(0)
    expect(await forTrade(['1'], quoteId)).toMatchObject({ kind: 'refused' })
  })
})
