import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { GAMES } from '../../contract/games.ts'
import { type FakeClock, fakeClock } from '../testing/clock.ts'
import { type TestDatabase, testDatabase } from '../testing/database.ts'
import { captureLog } from '../testing/log.ts'
import { eachGame, json, type SourceServer, startSourceServer } from '../testing/source-server.ts'
import { listFeeds } from './feed-store.ts'
import { refreshDue } from './jobs.ts'
import { DEFAULT_RULES, rulesWith } from './price.ts'
import { priceList } from './service.ts'
import { csfloatPrices } from './sources/csfloat.ts'
import { SourceError } from './sources/http.ts'
import { marketPrices } from './sources/market.ts'
import { webRates } from './sources/rates.ts'
import { skinportPrices } from './sources/skinport.ts'
import type { PriceSource } from './sources/source.ts'
import { waxpeerPrices } from './sources/waxpeer.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60_000
const PATH = '/v1/prices'

let database: TestDatabase
let server: SourceServer
let clock: FakeClock
const { log, lines } = captureLog()
const neverAborted = new AbortController().signal

beforeEach(async () => {
  database = await testDatabase()
  clock = fakeClock()
  server = await startSourceServer(clock)
})
afterEach(async () => {
  await server.close()
  await database.close()
})

/** Requests one feed of the source, if one is due. */
const requestDue = (source: PriceSource, rules = DEFAULT_RULES) =>
  refreshDue({ db: database.db, sources: [source], clock, rules, log }, source, neverAborted)

const STEP_S = 20

/** Advances the clock by `minutes`. Every 20 seconds, each process requests what is due. */
async function run(source: PriceSource, minutes: number, processes = 1): Promise<void> {
  for (let second = 0; second < minutes * 60; second += STEP_S) {
    await Promise.all(Array.from({ length: processes }, () => requestDue(source)))
    clock.advance(STEP_S * SECOND_MS)
  }
}

/** Returns the most calls in any window of this length. */
function mostCalls(windowMs: number): number {
  const times = server.requests.map(({ at }) => at?.getTime() ?? 0)
  return Math.max(...times.map((start) => times.filter((t) => t >= start && t < start + windowMs).length))
}

const waxpeer = () => waxpeerPrices({ base: server.url, clock })
/** `min`: Waxpeer's lowest price, in thousandths of a dollar. */
const waxpeerSays = (min: number) =>
  server.answer(PATH, json({ success: true, items: [{ name: 'Knife', count: 90, min }] }))
const feeds = () =>
  database.db.selectFrom('price_feed').selectAll().where('source', '=', 'waxpeer').orderBy('feed').execute()

describe('requests to a source', () => {
  test.each([
    ['that fails', {}, GAMES.length],
    [
      'that answers',
      { market_hash_name: 'A', currency: 'USD', min_price: 1, updated_at: 9 },
      2 * GAMES.length,
    ],
  ])(
    'from two processes stay at 6 or fewer in 5 minutes (Skinport allows 8), for a Skinport %s',
    async (_what, item, urls) => {
      server.answer('/v1/items', json([item]))
      server.answer('/v1/sales/history', json([]))
      await run(skinportPrices(server.url), 25, 2)
      expect(mostCalls(5 * MINUTE_MS)).toBeLessThanOrEqual(6)
      expect(new Set(server.requests.map(({ url }) => url)).size).toBe(urls)
    },
  )

  test('are sent once per interval for each game, even if the gateway restarts', async () => {
    // Each call of waxpeer() makes a new source, as a restart does. Its interval is 10 minutes.
    waxpeerSays(5_000)
    await run(waxpeer(), 9)
    expect(server.requests.map(({ url }) => url)).toHaveLength(GAMES.length)
    await run(waxpeer(), 3)
    expect(server.requests).toHaveLength(2 * GAMES.length)
  })

  test('are sent by only one of several processes', async () => {
    waxpeerSays(5_000)
    await requestDue(waxpeer())
    for (let turn = 2; turn < 6; turn += 1) {
      clock.advance(11 * MINUTE_MS)
      await Promise.all(Array.from({ length: 5 }, () => requestDue(waxpeer())))
      expect(server.requests).toHaveLength(turn)
    }
  })

  test('are not repeated by a gateway whose clock is ten minutes behind, and the prices stay as they are', async () => {
    waxpeerSays(5_000)
    await run(waxpeer(), 3)
    const readPrices = () => database.db.selectFrom('price').selectAll().orderBy('game').execute()
    const [requests, prices] = [server.requests.length, await readPrices()]
    clock.advance(-10 * MINUTE_MS)
    await run(waxpeer(), 3)
    expect(server.requests).toHaveLength(requests)
    expect(await readPrices()).toEqual(prices)
  })

  test('go on for all games once a clock that was ahead during a 429 is right again', async () => {
    server.answer(PATH, json({}, 429, { 'retry-after': '1800' }))
    clock.advance(2 * 24 * 60 * MINUTE_MS)
    await run(waxpeer(), 1)
    clock.advance(-2 * 24 * 60 * MINUTE_MS)
    waxpeerSays(5_000)
    const before = server.requests.length
    await run(waxpeer(), 9)
    expect(server.requests.length - before).toBe(GAMES.length)
  })

  test('stop for all games after a 429, for as long as the answer asks', async () => {
    server.answer(PATH, json({}, 429, { 'retry-after': '1800' }))
    await run(waxpeer(), 29)
    expect(server.requests).toHaveLength(1)
    await run(waxpeer(), 2)
    expect(server.requests).toHaveLength(2)
  })

  test('stop after a 429 for a part of the list, but the parts already read count, and the reason is recorded', async () => {
    const listPath = '/api/v1/listings/price-list'
    const csfloat = () => csfloatPrices({ base: server.url, clock })
    server.answer(listPath, json([{ market_hash_name: 'Knife', quantity: 90, min_price: 500 }]))
    server.answer(`${listPath}/doppler`, json({}, 429, { 'retry-after': '3600' }))
    await run(csfloat(), 59)
    expect(server.requests.map(({ url }) => url)).toEqual([listPath, `${listPath}/doppler`])
    expect((await database.pool.query('select usd_micros::int as micros from price')).rows).toEqual([
      { micros: 5_000_000 },
    ])
    expect(await listFeeds(database.db)).toMatchObject([
      { failures: 0, lastError: 'the phases of Dopplers are missing: answered 429' },
    ])
    await run(csfloat(), 2)
    expect(server.requests).toHaveLength(4)
  })

  test('become rarer while the source keeps failing, but are sent at least hourly, and the reason is recorded', async () => {
    server.answer(PATH, json({}, 500))
    const startMs = clock.now().getTime()
    await run(waxpeer(), 260)
    const [cs] = await feeds()
    expect(cs).toMatchObject({ feed: 'cs', good_at: null, last_error: 'answered 500' })
    const minutes = server.requests
      .filter(({ url }) => url.includes('csgo'))
      .map(({ at }) => ((at?.getTime() ?? 0) - startMs) / MINUTE_MS)
    expect(minutes).toEqual([0, 10, 30, 70, 130, 190, 250])
    waxpeerSays(5_000)
    await run(waxpeer(), 60)
    expect((await feeds())[0]).toMatchObject({ failures: 0, last_error: null })
    expect(lines.join('')).toContain('price source failed')
  })

  test('are repeated ten minutes after a failure, even with an interval of six hours, and the cause is recorded', async () => {
    const path = '/v6/latest/USD'
    server.answer(path, json({}, 500))
    const rates = webRates(server.url)
    await run(rates, 9)
    expect(server.requests).toHaveLength(1)
    const seconds = Math.floor(clock.now().getTime() / SECOND_MS)
    server.answer(
      path,
      json({ result: 'success', base_code: 'USD', time_last_update_unix: seconds, rates: { EUR: 0.86 } }),
    )
    await run(rates, 2)
    expect(server.requests).toHaveLength(2)
    await run(rates, 15)
    expect(server.requests).toHaveLength(2)

    // fetch refuses this port. Its error says only "fetch failed", so the cause is recorded.
    await requestDue(waxpeerPrices({ base: 'http://127.0.0.1:9', clock }))
    expect((await feeds())[0]?.last_error).toBe('bad port')
  })
})

const priceOf = async () => {
  const list = await priceList(database.db, {
    game: 'cs',
    currency: 'USD',
    names: ['Knife'],
    rules: DEFAULT_RULES,
    now: clock.now(),
  })
  return 'refused' in list ? list : list.priceOf('Knife')
}

describe('a source', () => {
  beforeEach(async () => {
    await database.pool.query(
      `insert into exchange_rate (currency, per_usd, source, as_of) values ('USD', 1, 'fixed', $1)`,
      [clock.now()],
    )
  })
  /** Makes Waxpeer and the market answer with this price in dollars, and requests both. */
  const bothSay = async (usd: number) => {
    waxpeerSays(usd * 1_000)
    const row = { market_hash_name: 'Knife', volume: '60', price: usd.toFixed(2) }
    const answer = { success: true, time: clock.now().getTime() / 1000, currency: 'USD', items: [row] }
    server.answer('/api/v2/prices/USD.json', json(answer))
    await requestDue(waxpeer())
    await requestDue(marketPrices(eachGame(server.url)))
  }

  test('that fails keeps its last good prices, which age until they no longer count', async () => {
    await bothSay(10)
    expect(await priceOf()).toMatchObject({ kind: 'priced', gross: 1_000n })
    for (const path of [PATH, '/api/v2/prices/USD.json']) server.answer(path, json({}, 503))
    await run(waxpeer(), 60)
    expect(await priceOf()).toMatchObject({ kind: 'priced', gross: 1_000n })
    clock.advance(6 * 60 * MINUTE_MS)
    expect(await priceOf()).toEqual({ kind: 'unavailable', reason: 'noPrice' })
  })

  test('is asked again, and its prices count, once a clock that was a month ahead has been set right', async () => {
    clock.advance(30 * 24 * 60 * MINUTE_MS)
    await bothSay(10)
    clock.advance(-30 * 24 * 60 * MINUTE_MS)
    expect(await priceOf()).toMatchObject({ kind: 'unavailable', reason: 'noPrice' })
    await bothSay(9)
    expect(await priceOf()).toMatchObject({ kind: 'priced', gross: 900n })
    const rows = await database.db.selectFrom('price').select(['as_of', 'earlier_at', 'mark_at']).execute()
    expect(rows).toHaveLength(2)
    const times = rows.flatMap((row) => [row.as_of, row.earlier_at, row.mark_at])
    expect(times.filter((time) => time !== null && time > clock.now())).toEqual([])
  })

  test('keeps its prices even if it answers with an empty list', async () => {
    await bothSay(10)
    server.answer(PATH, json({ success: true, items: [] }))
    clock.advance(11 * MINUTE_MS)
    await run(waxpeer(), 2)
    expect((await feeds())[0]).toMatchObject({ failures: 1, last_error: 'answered without a price' })
    expect(await priceOf()).toMatchObject({ kind: 'priced' })
  })

  test('pauses as long as a 429 for one part of the list demands, even if the other part has no price', async () => {
    const limited: PriceSource = {
      name: 'csfloat',
      pace: { everyMs: 10 * MINUTE_MS, gapMs: 0 },
      isLocal: false,
      games: ['cs'],
      fetch: async (_game, _signal, reportMissing) => {
        reportMissing?.(new SourceError('the phases of Dopplers are missing: answered 429', 3 * 3_600_000))
        return []
      },
    }
    await run(limited, 2)
    const row = await database.db.selectFrom('price_feed').selectAll().executeTakeFirstOrThrow()
    expect(row).toMatchObject({
      failures: 1,
      last_error: 'answered without a price, and the phases of Dopplers are missing: answered 429',
    })
    expect(row.next_at.getTime() - clock.now().getTime()).toBeGreaterThan(2 * 3_600_000)
  })

  test('keeps the prices of its list except those whose names the database cannot store', async () => {
    const names = [
      'Kni\0fe',
      'Knife \ud83d',
      'Knife \ud83e',
      ...Array.from({ length: 40 }, (_, n) => `★ StatTrak™ ${n}`),
    ]
    const items = names.map((name) => ({ name, count: 90, min: 5_000 }))
    server.answer(PATH, json({ success: true, items }))
    await requestDue(waxpeer())
    expect((await feeds())[0]).toMatchObject({ failures: 0, last_error: null })
    const { rows } = await database.pool.query('select count(*)::int as count from price')
    expect(rows).toEqual([{ count: 40 }])
  })

  test('counts as failing while it answers with yesterday’s list, whose prices do not count', async () => {
    const row = { market_hash_name: 'Knife', volume: '60', price: '10' }
    const time = clock.now().getTime() / 1000
    const ask = () => requestDue(marketPrices(eachGame(server.url)))
    const market = () =>
      database.db
        .selectFrom('price_feed')
        .select(['failures', 'last_error'])
        .where('source', '=', 'market')
        .where('feed', '=', 'cs')
        .executeTakeFirst()
    server.answer('/api/v2/prices/USD.json', json({ success: true, time, currency: 'USD', items: [row] }))
    await ask()
    expect(await market()).toEqual({ failures: 0, last_error: null })
    clock.advance(24 * 60 * MINUTE_MS)
    await run(marketPrices(eachGame(server.url)), 2)
    expect(await market()).toEqual({
      failures: 1,
      last_error: `answered with an old list: its newest price is from ${new Date(time * 1000).toISOString()}`,
    })
    server.answer(
      '/api/v2/prices/USD.json',
      json({ success: true, time: clock.now().getTime() / 1000, currency: 'USD', items: [row] }),
    )
    await run(marketPrices(eachGame(server.url)), 12)
    expect(await market()).toEqual({ failures: 0, last_error: null })
  })

  test.each([
    ['as failing while its list is too old for the settings', 2, 1, 1],
    ['as healthy while the settings accept an older list', 8, 24, 0],
  ])('counts %s', async (_outcome, ageHours, freshHours, failures) => {
    const time = clock.now().getTime() / 1000 - ageHours * 3_600
    const items = [{ market_hash_name: 'Knife', volume: '60', price: '10' }]
    server.answer('/api/v2/prices/USD.json', json({ success: true, time, currency: 'USD', items }))
    const rules = rulesWith(() => ({ freshMs: freshHours * 3_600_000 }))
    await requestDue(marketPrices(eachGame(server.url)), rules)
    expect(await listFeeds(database.db)).toContainEqual(expect.objectContaining({ feed: 'cs', failures }))
  })
})

describe('exchange rates from the web', () => {
  const webSays = (EUR: number, ageMs = 0) =>
    server.answer(
      '/v6/latest/USD',
      json({
        result: 'success',
        base_code: 'USD',
        time_last_update_unix: (clock.now().getTime() - ageMs) / 1000,
        rates: { EUR, BRL: 5.4 },
      }),
    )
  const eur = async () => {
    const query = { game: 'cs', names: [], rules: DEFAULT_RULES } as const
    const list = await priceList(database.db, { ...query, currency: 'EUR', now: clock.now() })
    return 'refused' in list ? list.refused : list.rate.perUsd
  }
  const fileSays = (perUsd: string) =>
    database.pool.query(
      `insert into exchange_rate (currency, per_usd, source, as_of) values ('EUR', $1, 'file', $2)`,
      [perUsd, clock.now()],
    )
  /** Advances the clock until the rates are due again, and requests them. */
  const ask = async () => {
    clock.advance(6 * 60 * MINUTE_MS)
    await requestDue(webRates(server.url))
  }

  test('override the file, whose rate is used only while the web’s is too old or missing', async () => {
    await fileSays('0.90')
    expect(await eur()).toBe(90_000_000n)
    webSays(0.86)
    await requestDue(webRates(server.url))
    await fileSays('0.90')
    expect(await eur()).toBe(86_000_000n)
    clock.advance(49 * 60 * MINUTE_MS)
    expect(await eur()).toBe('stale')
    await fileSays('0.90')
    expect(await eur()).toBe(90_000_000n)
  })

  test.each([
    ['a value of zero', 0],
    ['a misplaced decimal point', 8.6],
    ['a jump of a quarter', 1.075],
  ])('with %s are refused, and the last good rate stays', async (_what, wrongEur) => {
    webSays(0.86)
    await requestDue(webRates(server.url))
    webSays(wrongEur)
    await ask()
    expect(await eur()).toBe(86_000_000n)
    webSays(0.88)
    await ask()
    expect(await eur()).toBe(88_000_000n)
  })

  test('are not used if older than two days, and a rate from the future does not block newer rates', async () => {
    webSays(0.86, 49 * 60 * MINUTE_MS)
    await requestDue(webRates(server.url))
    expect(await eur()).toBe('missing')
    webSays(0.87, -90 * 24 * 60 * MINUTE_MS)
    await ask()
    webSays(0.88)
    await ask()
    expect(await eur()).toBe(88_000_000n)
  })
})
