import type { ServerResponse } from 'node:http'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { fakeClock } from '../../testing/clock.ts'
import {
  brotli,
  eachGame,
  halfOf,
  json,
  type SourceServer,
  silence,
  startSourceServer,
} from '../../testing/source-server.ts'
import { feedsOf } from '../feeds.ts'
import { csfloatPrices } from './csfloat.ts'
import { getJson } from './http.ts'
import { marketPrices } from './market.ts'
import { webRates } from './rates.ts'
import { skinportPrices } from './skinport.ts'
import type { PriceSource } from './source.ts'
import { waxpeerPrices } from './waxpeer.ts'

const NOW = new Date('2026-01-01T12:00:00Z')
const NOW_SECONDS = NOW.getTime() / 1000
const clock = fakeClock(NOW)
const neverAborted = new AbortController().signal

let server: SourceServer

beforeEach(async () => {
  server = await startSourceServer()
})
afterEach(() => server.close())

const CSFLOAT_PATH = '/api/v1/listings/price-list'
const DOPPLER_PATH = `${CSFLOAT_PATH}/doppler`
const MARKET_PATH = '/api/v2/prices/USD.json'
const market = () => marketPrices(eachGame(server.url))
const marketAnswer = (items: unknown[], change: object = {}) => ({
  success: true,
  time: NOW_SECONDS - 60,
  currency: 'USD',
  items,
  ...change,
})
const MARKET_ROW = { market_hash_name: 'AK-47 | Redline (Field-Tested)', volume: '812', price: '32.393' }

describe('the market family', () => {
  test('answers with prices as text in dollars, the number of items on sale, and one time for the entire answer', async () => {
    server.answer(MARKET_PATH, json(marketAnswer([MARKET_ROW])))
    expect(await market().fetch?.('cs', neverAborted)).toEqual([
      {
        marketHashName: 'AK-47 | Redline (Field-Tested)',
        usdMicros: 32_393_000n,
        levelUsdMicros: null,
        popularity: 812,
        popularityKind: 'listings',
        asOf: new Date(NOW.getTime() - 60_000),
      },
    ])
  })

  test('has an address for each game', async () => {
    const dota = await startSourceServer()
    dota.answer(MARKET_PATH, json(marketAnswer([MARKET_ROW])))
    const { fetch } = marketPrices({ ...eachGame(server.url), dota: dota.url })
    expect(await fetch?.('dota', neverAborted)).toHaveLength(1)
    await dota.close()
  })

  test('gives a name its cheapest price, and ignores a price of zero', async () => {
    const rows = [
      { ...MARKET_ROW, price: '40' },
      { ...MARKET_ROW, price: '31.5' },
      { ...MARKET_ROW, price: '33' },
      { ...MARKET_ROW, market_hash_name: 'Free', price: '0.000' },
    ]
    server.answer(MARKET_PATH, json(marketAnswer(rows)))
    expect(await market().fetch?.('cs', neverAborted)).toMatchObject([{ usdMicros: 31_500_000n }])
  })

  test('omits invalid rows, but fails if more than a tenth of the rows are invalid', async () => {
    const invalid = [{ ...MARKET_ROW, price: '-1' }, { ...MARKET_ROW, price: '1e9' }, null]
    const readWith = async (valid: number) => {
      const rows = Array.from({ length: valid }, (_, n) => ({ ...MARKET_ROW, market_hash_name: `Item ${n}` }))
      server.answer(MARKET_PATH, json(marketAnswer([...rows, ...invalid])))
      return market().fetch?.('cs', neverAborted)
    }
    expect(await readWith(27)).toHaveLength(27)
    await expect(readWith(26)).rejects.toThrow('29 rows, of which 3 are invalid')
  })

  test.each([
    ['another currency', marketAnswer([MARKET_ROW], { currency: 'RUB' })],
    ['no success', { success: false, error: 'Bad KEY' }],
    ['rows of a new form', marketAnswer([{ name: 'Item', price: '1', volume: '1' }])],
    ['a price written with a comma', marketAnswer([{ ...MARKET_ROW, price: '1,5' }])],
    ['a list instead of an object', [MARKET_ROW]],
    ['a time in milliseconds', marketAnswer([MARKET_ROW], { time: NOW.getTime() })],
  ])('refuses the entire answer because of %s', async (_what, answer) => {
    server.answer(MARKET_PATH, json(answer))
    await expect(market().fetch?.('cs', neverAborted)).rejects.toThrow(/unexpected form|invalid/)
  })
})

const WEEK = { min: 11, max: 14.2, avg: 12.51, median: 12.4, volume: 27 }
const week = (change: object = {}) => ({ ...WEEK, ...change })
const skinportItem = (change: object = {}) => ({
  market_hash_name: '★ Karambit | Doppler (Factory New)',
  currency: 'USD',
  suggested_price: 13.18,
  min_price: 12.95,
  max_price: null,
  mean_price: 13,
  median_price: 13,
  quantity: 9,
  created_at: NOW_SECONDS - 1_000_000,
  updated_at: NOW_SECONDS - 120,
  ...change,
})
const skinportSales = (change: object = {}) => ({
  market_hash_name: '★ Karambit | Doppler (Factory New)',
  currency: 'USD',
  last_24_hours: { min: null, max: null, avg: null, median: null, volume: 0 },
  last_7_days: week(),
  last_30_days: week({ volume: 90 }),
  ...change,
})

describe('Skinport', () => {
  const read = async (items: unknown[], sales: unknown[]) => {
    server.answer('/v1/items', brotli(items))
    server.answer('/v1/sales/history', brotli(sales))
    return (await skinportPrices(server.url).fetch?.('rust', neverAborted)) ?? []
  }

  test('computes the popularity from sales of 30 days, and the level from sales of 7 days', async () => {
    expect(await read([skinportItem()], [skinportSales()])).toEqual([
      {
        marketHashName: '★ Karambit | Doppler (Factory New)',
        usdMicros: 12_950_000n,
        levelUsdMicros: 12_400_000n,
        popularity: 90,
        popularityKind: 'sales30d',
        asOf: new Date(NOW.getTime() - 120_000),
      },
    ])
    expect(server.requests.map(({ url }) => url)).toEqual([
      '/v1/items?app_id=252490&currency=USD',
      '/v1/sales/history?app_id=252490&currency=USD',
    ])
  })

  test('gives a name with several rows the cheapest price, the sum of sales, and the lowest level', async () => {
    const items = [skinportItem({ min_price: 90 }), skinportItem({ min_price: 20.5 })]
    const sales = [
      skinportSales({ last_7_days: week({ median: 95 }), last_30_days: week({ volume: 3 }) }),
      skinportSales({ last_7_days: week({ median: 21 }), last_30_days: week({ volume: 4 }) }),
    ]
    expect(await read(items, sales)).toMatchObject([
      { usdMicros: 20_500_000n, levelUsdMicros: 21_000_000n, popularity: 7 },
    ])
  })

  test('also gives each phase its own price, level and sales, except an unknown phase or an item that is not a Doppler', async () => {
    const items = [
      skinportItem({ min_price: 90, version: 'Ruby' }),
      skinportItem({ min_price: 20.5, version: 'Phase 2' }),
      skinportItem({ min_price: 21, version: 'default' }),
      skinportItem({ min_price: 5, market_hash_name: 'Sticker', version: 'Ruby' }),
    ]
    const sales = [
      skinportSales({
        version: 'Ruby',
        last_7_days: week({ median: 95 }),
        last_30_days: week({ volume: 3 }),
      }),
      skinportSales({
        version: 'Phase 2',
        last_7_days: week({ median: 22 }),
        last_30_days: week({ volume: 4 }),
      }),
    ]
    const name = '★ Karambit | Doppler (Factory New)'
    expect(await read(items, sales)).toMatchObject([
      { marketHashName: name, usdMicros: 20_500_000n, levelUsdMicros: 22_000_000n, popularity: 7 },
      {
        marketHashName: `${name} [Ruby]`,
        usdMicros: 90_000_000n,
        levelUsdMicros: 95_000_000n,
        popularity: 3,
      },
      { marketHashName: `${name} [Phase 2]`, usdMicros: 20_500_000n, popularity: 4 },
      { marketHashName: 'Sticker', usdMicros: 5_000_000n },
    ])
  })

  test('has no price for a name if none of its items is on sale, and no level if none was sold', async () => {
    expect(await read([skinportItem({ min_price: null, quantity: 0 })], [])).toEqual([])
    const emptyWeek = week({ min: null, avg: null, median: null, volume: 0 })
    const noSales = skinportSales({ last_7_days: emptyWeek, last_30_days: emptyWeek })
    expect(await read([skinportItem()], [noSales])).toMatchObject([{ levelUsdMicros: null, popularity: 0 }])
    expect(await read([skinportItem()], [])).toMatchObject([{ levelUsdMicros: null, popularity: 0 }])
  })

  test('fails if a single row is in another currency', async () => {
    await expect(read([skinportItem(), skinportItem({ currency: 'EUR' })], [])).rejects.toThrow('currency')
    await expect(read([skinportItem()], [skinportSales({ currency: 'EUR' })])).rejects.toThrow('currency')
  })

  test('leaves out a row whose time is in milliseconds or is not a date, and keeps the others', async () => {
    const named = (name: string, change: object = {}) => skinportItem({ market_hash_name: name, ...change })
    const rows = Array.from({ length: 18 }, (_, n) => named(`Item ${n}`))
    const odd = [NOW.getTime(), Number.MAX_SAFE_INTEGER].map((time) => named('Odd', { updated_at: time }))
    expect((await read([...rows, ...odd], [])).map(({ marketHashName }) => marketHashName)).toEqual(
      rows.map((row) => row.market_hash_name),
    )
  })

  test('keeps the age of a stale row', async () => {
    const old = skinportItem({ updated_at: NOW_SECONDS - 86_400 })
    expect(await read([old], [])).toMatchObject([{ asOf: new Date(NOW.getTime() - 86_400_000) }])
  })
})

describe('Waxpeer', () => {
  test('has prices as whole thousandths of a dollar, as old as the call, and ignores a price of zero', async () => {
    const row = { name: 'Mann Co. Supply Crate Key', count: 1204, min: 1_812, steam_price: 2_490 }
    server.answer(
      '/v1/prices',
      json({ success: true, items: [row, { ...row, name: 'Unlisted', count: 0, min: 0 }] }),
    )
    const source = waxpeerPrices({ base: server.url, clock })
    expect(await source.fetch?.('tf', neverAborted)).toEqual([
      {
        marketHashName: 'Mann Co. Supply Crate Key',
        usdMicros: 1_812_000n,
        levelUsdMicros: null,
        popularity: 1204,
        popularityKind: 'listings',
        asOf: NOW,
      },
    ])
    expect(server.requests[0]?.url).toBe('/v1/prices?game=tf2&minified=0')
  })
})

describe('CSFloat', () => {
  const row = { market_hash_name: 'AK-47 | Redline (Field-Tested)', quantity: 640, min_price: 2_512 }
  const source = () => csfloatPrices({ base: server.url, clock })

  test('has prices, in cents and as old as the call, of items on sale only', async () => {
    const unsold = { ...row, market_hash_name: 'Unsold', quantity: 0, min_price: 10_000_000 }
    server.answer(CSFLOAT_PATH, json([row, unsold]))
    expect(await source().fetch?.('cs', neverAborted)).toEqual([
      {
        marketHashName: 'AK-47 | Redline (Field-Tested)',
        usdMicros: 25_120_000n,
        levelUsdMicros: null,
        popularity: 640,
        popularityKind: 'listings',
        asOf: NOW,
      },
    ])
  })

  test('adds the phases from a second list, and reports if that list is missing', async () => {
    const doppler = { market_hash_name: '★ Karambit | Doppler (Factory New)', min_price: 140_000 }
    server.answer(CSFLOAT_PATH, json([row]))
    const phases = [
      { ...doppler, paint_index: 415, phase_name: 'Ruby' },
      // Not a Doppler's paint.
      { ...doppler, paint_index: 38 },
    ]
    server.answer(DOPPLER_PATH, json({ data: phases }))
    expect(await source().fetch?.('cs', neverAborted)).toMatchObject([
      { marketHashName: row.market_hash_name },
      { marketHashName: `${doppler.market_hash_name} [Ruby]`, usdMicros: 1_400_000_000n, popularity: 0 },
    ])
    const problems: unknown[] = []
    for (const answer of [json(phases), json({}, 429), halfOf({ data: phases })]) {
      server.answer(DOPPLER_PATH, answer)
      const rows = await source().fetch?.('cs', neverAborted, (problem) => problems.push(problem))
      expect(rows).toHaveLength(1)
    }
    expect(problems).toMatchObject([
      { message: expect.stringContaining('unexpected form'), retryAfterMs: null },
      { message: 'the phases of Dopplers are missing: answered 429', retryAfterMs: 300_000 },
      { retryAfterMs: null },
    ])
  })

  test('has prices only of Counter-Strike, and gets no request for another game', () => {
    expect(feedsOf(source())).toEqual(['cs'])
  })

  test('fails if its answer has an unexpected form', async () => {
    server.answer(CSFLOAT_PATH, json({ data: [row] }))
    await expect(source().fetch?.('cs', neverAborted)).rejects.toThrow('unexpected form')
  })
})

describe('every source that answers in JSON', () => {
  const sources: [string, () => PriceSource][] = [
    ['market', market],
    ['skinport', () => skinportPrices(server.url)],
    ['waxpeer', () => waxpeerPrices({ base: server.url, clock })],
    ['csfloat', () => csfloatPrices({ base: server.url, clock })],
    ['rates', () => webRates(server.url)],
  ]
  const skinport = ['/v1/items', '/v1/sales/history']
  const paths = [MARKET_PATH, CSFLOAT_PATH, ...skinport, '/v1/prices', '/v6/latest/USD']
  const ask = (source: PriceSource, signal: AbortSignal) =>
    source.fetch?.('cs', signal) ?? source.fetchRates?.(signal)

  describe.each(sources)('%s', (_name, makeSource) => {
    test.each([
      ['half a body', halfOf([{ a: 'x'.repeat(1_000) }]), /terminated|closed|JSON/],
      ['a page instead of JSON', (response: ServerResponse) => response.end('<html>'), 'not JSON'],
      ['429', json({}, 429), 'answered 429'],
      ['500', json({}, 500), 'answered 500'],
      ['a redirect', json({}, 302, { location: '/elsewhere' }), /fetch failed/],
    ] as const)('fails on %s', async (_what, answer, message) => {
      for (const path of paths) server.answer(path, answer)
      await expect(ask(makeSource(), neverAborted)).rejects.toThrow(message)
    })

    test('fails at the deadline if it is silent', async () => {
      for (const path of paths) server.answer(path, silence)
      await expect(ask(makeSource(), AbortSignal.timeout(50))).rejects.toThrow(/timeout/)
    })
  })
})

describe('a call to a source', () => {
  test('fails if the answer is longer than the limit', async () => {
    server.answer('/v1/items', brotli('x'.repeat(100_000)))
    await expect(getJson(new URL('/v1/items', server.url), neverAborted, 50_000)).rejects.toThrow(
      'more than 50000 bytes',
    )
  })

  test('that fails reports the pause that the source demands, up to six hours, or five minutes for a 429 without a time', async () => {
    const failureOf = (status: number, headers = {}) => {
      server.answer('/v1/items', json({}, status, headers))
      return expect(getJson(new URL('/v1/items', server.url), neverAborted)).rejects
    }
    await failureOf(429, { 'retry-after': '90' }).toMatchObject({ retryAfterMs: 90_000 })
    await failureOf(429).toMatchObject({ retryAfterMs: 300_000 })
    await failureOf(503, { 'retry-after': '999999' }).toMatchObject({ retryAfterMs: 6 * 3_600_000 })
    await failureOf(500).toMatchObject({ retryAfterMs: null })
  })
})
