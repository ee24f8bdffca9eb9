import { GAME_FACTS, type Game } from '../../contract/games.ts'
import type { Currency } from '../../contract/money.ts'
import type { Db, Tx } from '../db/client.ts'
import { minimumInMinorUnits, type Rate, type RateRefusal, readRate, toMinorUnits } from './exchange.ts'
import { type PricingRules, shopperAmount, type Worth, worthOf } from './price.ts'
import { findRate, readPrices } from './store.ts'

type Priced = {
  kind: 'priced'
  /** What the shopper is credited, minor units of the currency. */
  price: bigint
  /** The same before commission. */
  gross: bigint
}

export type ItemPrice = Priced | Extract<Worth, { kind: 'unavailable' }>

export type PriceList = {
  rate: Rate
  /** Price of an item by its market hash name. */
  of(marketHashName: string): ItemPrice
}

type Asked = { game: Game; currency: Currency; names: readonly string[]; rules: PricingRules; now: Date }

/** Prices of these items as they are now. Without a rate that can be trusted nothing has a price. */
export async function priceList(
  db: Db | Tx,
  { game, currency, names, rules, now }: Asked,
): Promise<PriceList | { refused: RateRefusal | 'missing' }> {
  const rate = await currentRate(db, currency, now)
  if ('refused' in rate) return rate
  const prices = await readPrices(db, game, [...new Set(names)])
  const known = new Map<string, ItemPrice>()
  const judge = (name: string): ItemPrice => {
    const worth = worthOf(prices.get(name) ?? [], rules, now)
    if (worth.kind === 'unavailable') return worth
    const price = shopperAmount(worth.usdMicros, rate.perUsd, rules.commissionBps)
    return { kind: 'priced', price, gross: toMinorUnits(worth.usdMicros, rate.perUsd) }
  }
  return {
    rate,
    of: (name) => {
      const price = known.get(name) ?? judge(name)
      known.set(name, price)
      return price
    },
  }
}

async function currentRate(
  db: Db | Tx,
  currency: Currency,
  now: Date,
): Promise<Rate | { refused: RateRefusal | 'missing' }> {
  const row = await findRate(db, { currency })
  if (row === undefined) return { refused: 'missing' }
  const read = readRate(currency, row, now)
  if (read.kind === 'refused') return { refused: read.reason }
  return { rateId: row.id, currency, perUsd: read.perUsd }
}

/** Smallest total of a trade: the game's sum or what the store asks for, the larger, in minor units. */
export function minimumOf(game: Game, { perUsd }: Pick<Rate, 'perUsd'>, storeMinimum: bigint | null): bigint {
  const ofGame = minimumInMinorUnits(GAME_FACTS[game].minSumUsdCents, perUsd)
  return storeMinimum !== null && storeMinimum > ofGame ? storeMinimum : ofGame
}
