/** Information for a store before it opens a deposit: games, prices, and the state of the till. */
import { GAME_FACTS, GAMES, type Game } from '../../contract/games.ts'
import { CURRENCIES, type Currency } from '../../contract/money.ts'
import type { Games, Health, Prices, PricesQuery } from '../../contract/store-api.ts'
import type { Db } from '../db/client.ts'
import { gamesOfStore } from '../deposits/store.ts'
import { isLifeCurrent } from '../epochs/store.ts'
import type { Clock } from '../kit/clock.ts'
import { whyClosedBy } from '../outages/service.ts'
import { openOutages, readNotice } from '../outages/store.ts'
import type { PricingRules } from '../pricing/price.ts'
import { minimumOf, priceList, rulesOfStore } from '../pricing/service.ts'

export type OfferingDeps = {
  db: Db
  clock: Clock
  rules: PricingRules
  protectionDays(game: Game): number
}

/** Returns the games that the store takes. */
export async function readGames(deps: OfferingDeps, storeId: bigint): Promise<Games> {
  return { games: await describeGames(deps, (await gamesOfStore(deps.db, storeId)) ?? GAMES) }
}

/** Returns these games with the smallest sum of one trade in each currency that has a rate. */
async function describeGames(
  { db, clock, rules, protectionDays }: OfferingDeps,
  wanted: readonly Game[],
): Promise<Games['games']> {
  const now = clock.now()
  const rates = await Promise.all(
    CURRENCIES.map(async (currency) => {
      // The rate is the same for every game.
      const prices = await priceList(db, { game: 'cs', currency, names: [], rules, now })
      return 'refused' in prices ? [] : [{ currency, rate: prices.rate }]
    }),
  )
  const minimumsOf = (game: Game): Partial<Record<Currency, number>> =>
    Object.fromEntries(
      rates.flat().map(({ currency, rate }) => [currency, Number(minimumOf(game, rate, null))]),
    )
  return GAMES.filter((game) => wanted.includes(game)).map((game) => ({
    game,
    title: GAME_FACTS[game].title,
    steamAppId: GAME_FACTS[game].appId,
    protectionDays: protectionDays(game),
    minimums: minimumsOf(game),
  }))
}

/** Returns the smallest sum of one trade in any accepted game; undefined without such a game or an exchange rate. */
export async function smallestSum(
  deps: OfferingDeps,
  { games = GAMES, currency }: { games?: readonly Game[] | undefined; currency: Currency },
): Promise<number | undefined> {
  const described = await describeGames(deps, games)
  const sums = described.flatMap(({ minimums }) => minimums[currency] ?? [])
  return sums.length === 0 ? undefined : Math.min(...sums)
}

/** Returns the store's current credit for these items. */
export async function readPrices(
  { db, clock, rules: defaultRules }: OfferingDeps,
  storeId: bigint,
  { game, currency, name: names }: PricesQuery,
): Promise<Prices> {
  const takenGames = await gamesOfStore(db, storeId)
  if (takenGames?.includes(game) === false)
    return { prices: names.map((name) => ({ name, price: null, reason: 'gameNotAccepted' })) }
  const rules = await rulesOfStore(db, defaultRules, storeId)
  const prices = await priceList(db, { game, currency, names, rules, now: clock.now() })
  return {
    prices: names.map((name) => {
      if ('refused' in prices) return { name, price: null, reason: 'noExchangeRate' }
      const price = prices.priceOf(name)
      return price.kind === 'priced'
        ? { name, price: Number(price.price), reason: null }
        : { name, price: null, reason: price.reason }
    }),
  }
}

export async function readHealth({ db }: Pick<OfferingDeps, 'db'>): Promise<Health> {
  const outages = await openOutages(db)
  const maintenance = outages.has('maintenance')
  const trades = whyClosedBy(outages) === undefined && (await isLifeCurrent(db))
  const inventories = !outages.has('inventories')
  const until = maintenance ? (await readNotice(db))?.until : null
  return {
    status: trades ? 'ok' : 'degraded',
    trades,
    inventories,
    maintenance,
    maintenanceUntil: until?.toISOString() ?? null,
  }
}
