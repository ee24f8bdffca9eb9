import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { TradeBody } from '../../contract/widget-api.ts'
import { savePriceHold, savePrices } from '../pricing/store.ts'
import { anItem, SHOPPER, type StockedTill, setPrices, startStockedTill } from '../testing/inventory.ts'
import { requestTrade } from '../trades/request.ts'
import { sweepInventories, sweepQuotes } from './jobs.ts'
import { quoteForTrade } from './quotes.ts'
import { readInventory } from './service.ts'

const MINUTE_MS = 60_000

let till: StockedTill

beforeEach(async () => {
  till = await startStockedTill()
})
afterEach(() => till.close())

const OTHER_SHOPPER = '76561198000000010'

const quotes = () => till.db.selectFrom('quote').select('id').orderBy('created_at').execute()

const forTrade = (assetIds: string[], quoteId?: string | null, steamId = SHOPPER) =>
  till.db.transaction().execute((tx) =>
    quoteForTrade(tx, {
      depositId: till.depositId,
      steamId,
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

  test('give a trade the shown prices for 15 minutes, even after the price of one item has fallen by a tenth', async () => {
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

  test('give price_changed after a fall of more than a tenth, or if the sources contradict each other', async () => {
    const { quoteId } = await till.ask()
    await setPrices(till, { Knife: 17_999_999n })
    expect(await forTrade(['1'], quoteId)).toEqual({ kind: 'refused', code: 'price_changed' })
    // The limit is a tenth of the total of the trade's items.
    await setPrices(till, { Knife: 20_000_000n, Case: 100_000n })
    expect(await forTrade(['1', '2'], quoteId)).toMatchObject({ kind: 'quote', total: 1_512n })
    expect(await forTrade(['2'], quoteId)).toEqual({ kind: 'refused', code: 'price_changed' })
    const otherSource = { source: 'other', game: 'cs' } as const
    const contradiction = {
      usdMicros: 90_000_000n,
      levelUsdMicros: null,
      popularity: 50,
      popularityKind: 'listings',
    } as const
    await savePrices(till.db, otherSource, [
      { marketHashName: 'Knife', ...contradiction, asOf: till.clock.now() },
    ])
    expect(await forTrade(['1'], quoteId)).toEqual({ kind: 'refused', code: 'price_changed' })
  })

  test('stay valid until they expire, even if no source has a price any longer', async () => {
    const { quoteId } = await till.ask()
    await till.db.deleteFrom('price').execute()
    expect(await forTrade(['1'], quoteId)).toMatchObject({ kind: 'quote', total: 1_440n })
  })

  test('are used by later reads for a minute if no price changes, but only for ten seconds if one rises', async () => {
    const first = (await till.ask()).quoteId
    expect((await till.ask()).quoteId).toBe(first)
    till.clock.advance(10_000)
    expect((await till.ask()).quoteId).toBe(first)
    await setPrices(till, { Knife: 30_000_000n })
    const second = (await till.ask()).quoteId
    expect(second).not.toBe(first)
    till.clock.advance(MINUTE_MS)
    expect((await till.ask()).quoteId).not.toBe(second)
    expect(await quotes()).toHaveLength(3)
  })

  test('record commission, rate and, for each name, every source’s data with the time', async () => {
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

  test('do not cover items that the operator has blocked since', async () => {
    const { quoteId } = await till.ask()
    await savePriceHold(till.db, { game: 'cs', name: 'Case', kind: 'blocked', since: till.clock.now() })
    expect(await forTrade(['1', '2'], quoteId)).toEqual({ kind: 'refused', code: 'items_unavailable' })
    expect(await forTrade(['1'], quoteId)).toMatchObject({ kind: 'quote' })
    expect(await till.ask()).toMatchObject({ items: [{ id: '1' }], unavailableByReason: { noPrice: 2 } })
  })

  test('apply to a trade that names none: it uses the latest', async () => {
    await till.ask()
    await setPrices(till, { Knife: 30_000_000n })
    till.clock.advance(10_000)
    await till.ask()
    expect(await forTrade(['1'])).toMatchObject({ total: 2_160n })
  })

  test('that expired keep the shown prices if the items are worth at least as much, and otherwise give price_changed', async () => {
    const { quoteId } = await till.ask()
    till.clock.advance(15 * MINUTE_MS)
    expect(await forTrade(['1', '2'], quoteId)).toMatchObject({ kind: 'quote', total: 1_512n })
    await setPrices(till, { Knife: 30_000_000n })
    expect(await forTrade(['1'], quoteId)).toMatchObject({ kind: 'quote', total: 1_440n })
    await setPrices(till, { Knife: 19_900_000n })
    expect(await forTrade(['1'], quoteId)).toEqual({ kind: 'refused', code: 'price_changed' })
  })

  test('that expired give price_changed if the items no longer have a price', async () => {
    const { quoteId } = await till.ask()
    // Prices count for six hours.
    till.clock.advance(7 * 60 * MINUTE_MS)
    expect(await forTrade(['2'], quoteId)).toEqual({ kind: 'refused', code: 'price_changed' })
  })

  test('A-087 give items_unavailable for an asset that was not offered, for no asset, and for an unknown quote', async () => {
    const { quoteId } = await till.ask()
    const refused = { kind: 'refused', code: 'items_unavailable' }
    expect(await forTrade(['1', '99'], quoteId)).toEqual(refused)
    expect(await forTrade([], quoteId)).toEqual(refused)
    expect(await forTrade(['1'], 'not a quote')).toEqual(refused)
    expect(await forTrade(['1'], '00000000-0000-4000-8000-00000000000f')).toEqual(refused)
  })

  test('of another account do not count, named by the trade or not, even after a change of the link', async () => {
    const { quoteId } = await till.ask()
    const refused = { kind: 'refused', code: 'items_unavailable' }
    expect(await forTrade(['1'], quoteId, OTHER_SHOPPER)).toEqual(refused)
    expect(await forTrade(['1'], undefined, OTHER_SHOPPER)).toEqual(refused)
    expect(await forTrade(['1'], quoteId)).toMatchObject({ kind: 'quote' })
    await till.db.updateTable('deposit').set({ user_steam_id: OTHER_SHOPPER }).execute()
    const body: TradeBody = {
      hash: till.hash,
      game: 'cs',
      items: ['1'],
      ...(quoteId !== null && { quoteId }),
    }
    expect(await requestTrade(till.deps, body)).toEqual(refused)
    // Even with the same assets at the same prices, the other account gets its own quote.
    const otherQuoteId = (await till.ask()).quoteId
    expect(otherQuoteId).not.toBe(quoteId)
    expect(await forTrade(['1'], otherQuoteId, OTHER_SHOPPER)).toMatchObject({ kind: 'quote' })
  })

  test('are deleted after a clock that was days ahead has been set back', async () => {
    const DAY_MS = 24 * 60 * MINUTE_MS
    await till.ask()
    const ahead = new Date(till.clock.now().getTime() + 4 * DAY_MS)
    await till.db.insertInto('sweep_place').values({ sweep: 'quotes', up_to: ahead }).execute()
    till.clock.advance(2 * DAY_MS)
    await sweepInventories(till.deps)
    expect(await quotes()).toEqual([])
    // Otherwise each sweep would begin with the first quotes again, and never come further than those.
    const place = till.db.selectFrom('sweep_place').select('up_to').where('sweep', '=', 'quotes')
    expect((await place.executeTakeFirst())?.up_to.getTime()).toBeLessThan(till.clock.now().getTime())
  })

  test('before the place of the last sweep are not examined again if its clock was some seconds ahead', async () => {
    const DAY_MS = 24 * 60 * MINUTE_MS
    await till.ask()
    till.clock.advance(2 * DAY_MS)
    const place = { sweep: 'quotes', up_to: new Date(till.clock.now().getTime() - DAY_MS + 30_000) }
    await till.db.insertInto('sweep_place').values(place).execute()
    await sweepInventories(till.deps)
    expect(await quotes()).toHaveLength(1)
    expect(await till.db.selectFrom('sweep_place').selectAll().execute()).toContainEqual(place)
  })

  test('are deleted a day after they expired, even a deposit’s latest, and inventory requests at the age of a day', async () => {
    const { quoteId } = await till.ask()
    const rowsLeft = async () => ({
      quotes: (await quotes()).length,
      requests: (await till.db.selectFrom('inventory_request').select('id').execute()).length,
    })
    await sweepInventories(till.deps)
    expect(await rowsLeft()).toEqual({ quotes: 1, requests: 1 })
    till.clock.advance(25 * 60 * MINUTE_MS)
    await sweepInventories(till.deps)
    expect(await rowsLeft()).toEqual({ quotes: 0, requests: 0 })
    expect(await forTrade(['1'], quoteId)).toMatchObject({ kind: 'refused' })
  })
})

describe('reads of an inventory', () => {
  const rowCounts = async () => {
    const counts = await Promise.all(
      (['quote', 'quote_item', 'quote_price'] as const).map((table) =>
        till.db
          .selectFrom(table)
          .select((eb) => eb.fn.countAll<bigint>().as('rows'))
          .executeTakeFirstOrThrow(),
      ),
    )
    return counts.map(({ rows: count }) => Number(count))
  }
  const ownedAs = (knifeName: string, caseName: string) => ({
    kind: 'items' as const,
    items: [anItem('1', 'Knife', { name: knifeName }), anItem('2', 'Case', { name: caseName })],
  })

  test('write no new quote for another language, but show the names in that language', async () => {
    till.steam.owned = ownedAs('Knife', 'Case')
    const first = await till.ask({ language: 'en' })
    till.steam.owned = ownedAs('Нож', 'Кейс')
    const second = await till.ask({ language: 'ru' })
    expect(second.quoteId).toBe(first.quoteId)
    expect(second.items.map(({ name }) => name)).toEqual(['Нож', 'Кейс'])
    for (let n = 0; n < 20; n += 1) await till.ask({ language: n % 2 === 0 ? 'en' : 'ru' })
    expect(await rowCounts()).toEqual([1, 2, 2])
  })

  test('follow a fall of a price at once, so the page does not show the refused total a second time', async () => {
    till.steam.owned = ownedAs('Knife', 'Case')
    const { quoteId } = await till.ask()
    await setPrices(till, { Knife: 17_000_000n, Case: 2_000_000n })
    expect(await forTrade(['1'], quoteId)).toEqual({ kind: 'refused', code: 'price_changed' })
    till.clock.advance(1)
    const reread = await till.ask()
    expect(reread.items).toMatchObject([{ price: 1_224 }, { price: 144 }])
    expect(await forTrade(['1'], reread.quoteId)).toMatchObject({ kind: 'quote', total: 1_224n })
    // The fall is in the latest quote now, so the next reads write nothing.
    expect((await till.ask()).quoteId).toBe(reread.quoteId)
  })

  test('write at most one quote every ten seconds if no price falls, and until then show the last quote', async () => {
    till.steam.owned = ownedAs('Knife', 'Case')
    const { quoteId } = await till.ask()
    till.steam.owned = { kind: 'items', items: [anItem('1', 'Knife'), anItem('3', 'Case')] }
    await setPrices(till, { Knife: 30_000_000n })
    till.clock.advance(9_999)
    const shown = await till.ask({ reload: true })
    expect(shown).toMatchObject({ quoteId, items: [{ id: '1', price: 1_440 }] })
    expect(shown.items).toHaveLength(1)
    expect(await forTrade(['1'], quoteId)).toMatchObject({ total: 1_440n })
    till.clock.advance(1)
    const reread = await till.ask()
    expect(reread.items).toMatchObject([
      { id: '1', price: 2_160 },
      { id: '3', price: 72 },
    ])
    expect(await rowCounts()).toEqual([2, 4, 4])
  })

  test('write only one new quote if they are simultaneous', async () => {
    await till.ask()
    till.clock.advance(MINUTE_MS - 1)
    await setPrices(till, { Knife: 30_000_000n })
    await till.withBot(() =>
      Promise.all(Array.from({ length: 8 }, () => readInventory(till.deps, { hash: till.hash, game: 'cs' }))),
    )
    expect(await quotes()).toHaveLength(2)
  })

  test('keep at most fifty quotes of a deposit: a new quote replaces the oldest', async () => {
    const quoteIds: (string | null)[] = []
    for (let n = 0; n < 52; n += 1) {
      await setPrices(till, { Knife: 20_000_000n + BigInt(n) * 1_000_000n })
      quoteIds.push((await till.ask()).quoteId)
      till.clock.advance(10_000)
    }
    expect((await quotes()).map(({ id }) => id)).toEqual(quoteIds.slice(2))
  })

  test('write quotes that are deleted after fifteen minutes, except the latest and those with a trade', async () => {
    const quoteIds: (string | null)[] = []
    for (let n = 0; n < 3; n += 1) {
      await setPrices(till, { Knife: 20_000_000n + BigInt(n) * 1_000_000n })
      quoteIds.push((await till.ask()).quoteId)
      till.clock.advance(10_000)
    }
    const [first, traded, latest] = quoteIds
    await aTradeWith(traded)
    // The first quote is a millisecond younger than 15 minutes.
    till.clock.advance(15 * MINUTE_MS - 30_001)
    await sweepQuotes(till.deps)
    expect((await quotes()).map(({ id }) => id)).toEqual([first, traded, latest])
    till.clock.advance(MINUTE_MS)
    await sweepQuotes(till.deps)
    expect((await quotes()).map(({ id }) => id)).toEqual([traded, latest])
  })

  const aTradeWith = (quoteId: string | null | undefined) =>
    till.db
      .insertInto('trade')
      .values({
        deposit_id: till.depositId,
        bot_id: till.bot.botId,
        quote_id: quoteId ?? '',
        game: 'cs',
        secret_code: 'ABCDEF',
        partner_steam_id: SHOPPER,
        partner_token: 't',
        currency: 'EUR',
        total: 1n,
        gross_total: 1n,
      })
      .execute()
})
