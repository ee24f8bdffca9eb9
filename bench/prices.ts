/** Measures a refresh of all prices of a game, and how long pricing a basket takes during it. */
import { type Database, openDatabase } from '../gateway/db/client.ts'
import { migrate } from '../gateway/db/migrate.ts'
import { DEFAULT_RULES } from '../gateway/pricing/price.ts'
import { priceList } from '../gateway/pricing/service.ts'
import type { PriceRow } from '../gateway/pricing/sources/source.ts'
import { savePrices, saveRate } from '../gateway/pricing/store.ts'
import { withDatabase } from './database.ts'
import type { Outcome } from './outcome.ts'

const PRICES = 25_000
/** The longest that a refresh may take. */
const MOST_MS = 2_000
const DAY_MS = 86_400_000
const BASKET_ITEMS = 50
/** The prices of this source and game are refreshed. */
const SOURCE_AND_GAME = { source: 'market', game: 'cs' } as const

export function benchPrices(): Promise<Outcome> {
  return withDatabase({ fsync: true }, async (url) => {
    await migrate({ url })
    const database = openDatabase(url)
    try {
      return await measure(database)
    } finally {
      await database.close()
    }
  })
}

async function measure(database: Database): Promise<Outcome> {
  const startMs = new Date('2026-01-01T12:00:00Z').getTime()
  await saveRate(database.db, 'fixed', { currency: 'USD', perUsd: '1', asOf: new Date(startMs) })
  const rounds: [when: string, atMs: number][] = [
    ['the first time', startMs],
    ['ten minutes later', startMs + 600_000],
    ...[1, 2, 3].map((day): [string, number] => [
      `on day ${day + 1}, with the prices of earlier days still stored,`,
      startMs + day * DAY_MS,
    ]),
  ]
  let isFastEnough = true
  let slowestMs = 0
  for (const [when, atMs] of rounds) {
    const { tookMs, basketsMs, statements } = await refresh(database, new Date(atMs))
    console.log(
      `prices: ${PRICES} prices were refreshed ${when} in ${Math.round(tookMs)} ms (limit: ${MOST_MS} ms), number of ` +
        `statements: ${statements} (limit: 1). Meanwhile ${basketsMs.length} baskets of ${BASKET_ITEMS} items were priced, ` +
        `the slowest in ${Math.round(Math.max(...basketsMs))} ms.`,
    )
    isFastEnough &&= tookMs <= MOST_MS && statements === 1
    slowestMs = Math.max(slowestMs, tookMs)
  }
  return {
    name: 'prices',
    ours: `${Math.round(slowestMs)}ms`,
    limit: `<=${MOST_MS}ms`,
    passed: isFastEnough,
  }
}

/** Refreshes the prices. Meanwhile, computes the price of one basket after another. */
async function refresh(database: Database, at: Date) {
  const rows = pricesAt(at)
  const writesBefore = await writesOf(database)
  const beganMs = performance.now()
  let tookMs: number | undefined
  const saved = savePrices(database.db, SOURCE_AND_GAME, rows).then(() => {
    tookMs = performance.now() - beganMs
  })
  const basketsMs: number[] = []
  while (tookMs === undefined || basketsMs.length === 0) {
    const basketBeganMs = performance.now()
    await priceBasket(database, at)
    basketsMs.push(performance.now() - basketBeganMs)
  }
  await saved
  return { tookMs, basketsMs, statements: (await writesOf(database)) - writesBefore }
}

async function priceBasket({ db }: Database, now: Date): Promise<void> {
  const names = Array.from({ length: BASKET_ITEMS }, (_, index) => nameOf(index * 100))
  const list = await priceList(db, { game: 'cs', currency: 'USD', names, rules: DEFAULT_RULES, now })
  if (!('refused' in list)) for (const name of names) list.priceOf(name)
}

const nameOf = (index: number): string => `Item ${index} | With a name of the usual length (Field-Tested)`

function pricesAt(asOf: Date): PriceRow[] {
  // Makes the prices of each refresh differ from those before.
  const offset = BigInt(asOf.getTime() % 997)
  return Array.from({ length: PRICES }, (_, index) => ({
    marketHashName: nameOf(index),
    usdMicros: BigInt(1_000_000 + index * 37) + offset,
    levelUsdMicros: null,
    popularity: 50,
    popularityKind: 'listings',
    asOf,
  }))
}

/** The number of statements that inserted prices, counted by a trigger since the first call. */
async function writesOf({ pool }: Database): Promise<number> {
  await pool.query(`create table if not exists bench_writes (n integer not null)`)
  await pool.query(`
    create or replace function count_writes() returns trigger language plpgsql as
    $$ begin insert into bench_writes values (1); return null; end $$`)
  await pool.query(`
    create or replace trigger bench_count after insert on price for each statement execute function count_writes()`)
  const { rows } = await pool.query<{ n: number }>('select count(*)::integer as n from bench_writes')
  return rows[0]?.n ?? 0
}
