import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { fakeClock } from '../testing/clock.ts'
import { type TestDatabase, testDatabase } from '../testing/database.ts'
import { forgetPrices } from './jobs.ts'
import { DEFAULT_RULES, type SourcePrice } from './price.ts'
import { isBlocked, priceList } from './service.ts'
import { readPrices, removePriceHold, savePriceHold, savePrices, saveRate } from './store.ts'

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const ORIGIN = { source: 'waxpeer', game: 'cs' } as const

let database: TestDatabase
let clock: ReturnType<typeof fakeClock>

beforeEach(async () => {
  database = await testDatabase()
  clock = fakeClock()
})
afterEach(() => database.close())

const savePrice = (usdMicros: bigint, { level = null as bigint | null, name = 'Knife' } = {}) =>
  savePrices(database.db, ORIGIN, [
    {
      marketHashName: name,
      usdMicros,
      levelUsdMicros: level,
      popularity: 50,
      popularityKind: 'sales30d',
      asOf: clock.now(),
    },
  ])
const storedPrice = async (): Promise<SourcePrice | undefined> =>
  (await readPrices(database.db, 'cs', ['Knife'])).get('Knife')?.[0]

describe('the weekly level', () => {
  test('is the median of each earlier day’s last price, once there are three such days', async () => {
    const levels: (bigint | null | undefined)[] = []
    for (const price of [10n, 12n, 900n, 11n, 13n]) {
      await savePrice(1n)
      clock.advance(HOUR_MS)
      await savePrice(price)
      levels.push((await storedPrice())?.levelUsdMicros)
      clock.advance(DAY_MS - HOUR_MS)
    }
    expect(levels).toEqual([null, null, null, 12n, 11n])
  })

  test('is not moved by one bad day among seven', async () => {
    for (const price of [10n, 10n, 10n, 10n, 9_999n, 10n, 10n, 10n, 10n]) {
      await savePrice(price)
      clock.advance(DAY_MS)
    }
    await savePrice(10n)
    expect((await storedPrice())?.levelUsdMicros).toBe(10n)
  })

  test('ignores prices older than seven days', async () => {
    for (const price of [10n, 10n, 10n, 10n]) {
      await savePrice(price)
      clock.advance(DAY_MS)
    }
    clock.advance(8 * DAY_MS)
    await savePrice(50n)
    expect((await storedPrice())?.levelUsdMicros).toBeNull()
  })

  test('is the source’s own if the source gives one', async () => {
    for (const price of [10n, 10n, 10n, 10n]) {
      await savePrice(price)
      clock.advance(DAY_MS)
    }
    await savePrice(10n, { level: 14n })
    expect((await storedPrice())?.levelUsdMicros).toBe(14n)
  })
})

describe('the earlier price', () => {
  /** Saves a price after `minutes`. Returns the earlier price at that time, and its age in minutes. */
  const earlierAfter = async (minutes: number, price: bigint) => {
    clock.advance(minutes * 60_000)
    await savePrice(price)
    const earlier = (await storedPrice())?.earlier
    if (earlier === null || earlier === undefined) return null
    return [earlier.usdMicros, (clock.now().getTime() - earlier.asOf.getTime()) / 60_000]
  }

  test('is one to two hours old if the source answers several times an hour', async () => {
    expect(await earlierAfter(0, 1n)).toBeNull()
    expect(await earlierAfter(20, 2n)).toBeNull()
    expect(await earlierAfter(20, 3n)).toBeNull()
    expect(await earlierAfter(20, 4n)).toEqual([1n, 60])
    expect(await earlierAfter(20, 5n)).toEqual([1n, 80])
    expect(await earlierAfter(20, 6n)).toEqual([3n, 60])
    expect(await earlierAfter(20, 7n)).toEqual([3n, 80])
  })

  test('is the previous price if the source answers every few hours', async () => {
    expect(await earlierAfter(0, 1n)).toBeNull()
    expect(await earlierAfter(300, 2n)).toEqual([1n, 300])
    expect(await earlierAfter(300, 3n)).toEqual([2n, 300])
  })
})

describe('the operator’s freezes and blocks', () => {
  beforeEach(() => saveRate(database.db, 'fixed', { currency: 'USD', perUsd: '1', asOf: clock.now() }))
  const worth = async (name = 'Knife') => {
    const query = {
      game: 'cs',
      currency: 'USD',
      names: [name],
      rules: DEFAULT_RULES,
      now: clock.now(),
    } as const
    const list = await priceList(database.db, query)
    return 'refused' in list ? list : list.priceOf(name)
  }
  const hold = (kind: 'blocked' | 'frozen', name: string | null) =>
    savePriceHold(database.db, { game: 'cs', name, kind, since: clock.now() })
  const fiveDollars = { kind: 'priced', gross: 500n }

  test.each([
    ['an item', 'Knife'],
    ['an entire game', null],
  ])('a freeze of %s keeps a price from moving and ageing until the release', async (_what, name) => {
    await savePrice(5_000_000n, { level: 5_000_000n })
    await hold('frozen', name)
    clock.advance(HOUR_MS)
    await savePrice(6_000_000n, { level: 6_000_000n })
    clock.advance(20 * HOUR_MS)
    expect(await worth()).toMatchObject(fiveDollars)
    expect(await removePriceHold(database.db, { game: 'cs', name })).toBe(true)
    expect(await worth()).toEqual({ kind: 'unavailable', reason: 'noPrice' })
    await savePrice(6_000_000n, { level: 6_000_000n })
    expect(await worth()).toMatchObject({ gross: 600n })
    expect(await removePriceHold(database.db, { game: 'cs', name })).toBe(false)
  })

  test('a block removes the price of blocked items only', async () => {
    await savePrice(5_000_000n, { level: 5_000_000n })
    await savePrice(5_000_000n, { level: 5_000_000n, name: 'Case' })
    await hold('blocked', 'Knife')
    expect(await worth()).toEqual({ kind: 'unavailable', reason: 'noPrice' })
    expect(await worth('Case')).toMatchObject(fiveDollars)
    await hold('blocked', null)
    expect(await worth('Case')).toEqual({ kind: 'unavailable', reason: 'noPrice' })
    expect(await isBlocked(database.db, 'cs', ['Case'])).toBe(true)
    expect(await isBlocked(database.db, 'dota', ['Case'])).toBe(false)
  })

  test('a price that no source has listed for a month is deleted, unless it is frozen', async () => {
    await savePrice(5_000_000n)
    await hold('frozen', 'Knife')
    await savePrice(5_000_000n, { name: 'Case' })
    clock.advance(31 * DAY_MS)
    await forgetPrices({ db: database.db, clock })
    const left = await database.db.selectFrom('price').select('market_hash_name').execute()
    expect(left).toEqual([{ market_hash_name: 'Knife' }])
  })
})

describe('a refresh of the prices', () => {
  const rows = (asOf: Date, usdMicros: bigint) =>
    Array.from({ length: 1_000 }, (_, index) => ({
      marketHashName: `Item ${index}`,
      usdMicros,
      levelUsdMicros: usdMicros,
      popularity: 50,
      popularityKind: 'sales7d' as const,
      asOf,
    }))

  test('does not block the reads of a trade', async () => {
    await saveRate(database.db, 'fixed', { currency: 'USD', perUsd: '1', asOf: clock.now() })
    await savePrices(database.db, ORIGIN, rows(clock.now(), 5_000_000n))
    await database.db.transaction().execute(async (tx) => {
      await savePrices(tx, ORIGIN, rows(clock.now(), 6_000_000n))
      await saveRate(tx, 'fixed', { currency: 'USD', perUsd: '1', asOf: clock.now() })
      const names = ['Item 1', 'Item 2']
      const list = await database.db.transaction().execute(async (trade) => {
        // A read that waits for a lock fails after 1 ms.
        await trade.executeQuery(sql`set local lock_timeout = 1`.compile(trade))
        return priceList(trade, {
          game: 'cs',
          currency: 'USD',
          names,
          rules: DEFAULT_RULES,
          now: clock.now(),
        })
      })
      expect('refused' in list ? list : list.priceOf('Item 1')).toMatchObject({ gross: 500n })
    })
  })
})
