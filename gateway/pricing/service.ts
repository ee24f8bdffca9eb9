import { GAME_FACTS, type Game, type Phase } from '../../contract/games.ts'
import type { Currency } from '../../contract/money.ts'
import type { Db, Tx } from '../db/client.ts'
import {
  minimumInMinorUnits,
  type Rate,
  type RateRefusal,
  REFERENCE_SOURCE,
  readRate,
  toMinorUnits,
} from './exchange.ts'
import { phaseName } from './phase.ts'
import {
  FILE_SOURCE,
  freshOf,
  type GameRules,
  OPERATOR_SOURCE,
  type PricingRules,
  type SourcePrice,
  shopperAmount,
  type Worth,
  withCommission,
  worthOf,
  worthOfOverride,
} from './price.ts'
import { covers, effectOfHolds, nameInForce, type PriceHold } from './price-hold.ts'
import { commissionOf, latestRates, readPriceHolds, readPrices } from './store.ts'

type Priced = {
  kind: 'priced'
  /** The shopper's credit, in minor units of the currency. */
  price: bigint
  /** The price before commission, in minor units. */
  gross: bigint
}

export type ItemPrice = Priced | Extract<Worth, { kind: 'unavailable' }>

export type PriceBasis = {
  /** The item's market hash name, or the name of its phase. */
  marketHashName: string
  usdMicros: bigint
  levelUsdMicros: bigint | null
  sources: readonly SourcePrice[]
}

export type PriceList = {
  rate: Rate
  commissionBps: number
  /** Price of an item by its market hash name, or by the name of its phase. */
  priceOf(name: string): ItemPrice
  /**
   * The price of a phase: its own, or that of the market name if the phase has none, or if only the market name is
   * on hold. A block of either name leaves no price. `pricedAs` is the name that has the price.
   */
  priceOfPhase(marketHashName: string, phase: Phase): { price: ItemPrice; pricedAs: string }
  /** See `price-hold.ts`. The query must have the market name too. */
  nameInForce(name: string): string
  /** True while no source has a recent enough price, unless the operator set one. */
  isSilent(name: string): boolean
  /** The basis of every price that has been returned so far. */
  bases(): PriceBasis[]
}

type PriceQuery = { game: Game; currency: Currency; names: readonly string[]; rules: PricingRules; now: Date }

/** Returns a refusal if there is no trusted exchange rate. */
export async function priceList(
  db: Db | Tx,
  { game, currency, names, rules, now }: PriceQuery,
): Promise<PriceList | { refused: RateRefusal | 'missing' }> {
  const rate = await currentRate(db, currency, now)
  if ('refused' in rate) return rate
  const wanted = [...new Set(names)]
  const prices = await readPrices(db, game, wanted)
  const holds = await readPriceHolds(db, game, wanted)
  return createPriceList({ rate, prices, holds, rules: rules[game], now })
}

export async function rulesOfStore(db: Db | Tx, rules: PricingRules, storeId: bigint): Promise<PricingRules> {
  return withCommission(rules, await commissionOf(db, storeId))
}

type ListInputs = {
  rate: Rate
  /** By market hash name, or by the name of a phase. */
  prices: ReadonlyMap<string, readonly SourcePrice[]>
  holds: readonly PriceHold[]
  rules: GameRules
  now: Date
}

/** Makes the price list. Each name is judged once, and only on demand. Pure. */
export function createPriceList({ rate, prices, holds, rules, now }: ListInputs): PriceList {
  const { commissionBps } = rules
  const judged = new Map<string, ItemPrice>()
  const bases: PriceBasis[] = []
  const judge = (name: string): ItemPrice => {
    const { blocked, asOf, override } = effectOfHolds(holds, name, now)
    if (blocked) return { kind: 'unavailable', reason: 'noPrice' }
    const sourcePrices = prices.get(name) ?? []
    const sources = override === null ? freshOf(sourcePrices, rules, asOf) : [priceOfOverride(override, now)]
    const worth = override === null ? worthOf(sourcePrices, rules, asOf) : worthOfOverride(override, rules)
    if (worth.kind === 'unavailable') return worth
    const { usdMicros, levelUsdMicros } = worth
    bases.push({ marketHashName: name, usdMicros, levelUsdMicros, sources })
    const price = shopperAmount(usdMicros, rate.perUsd, commissionBps)
    return { kind: 'priced', price, gross: toMinorUnits(usdMicros, rate.perUsd) }
  }
  const priceOf = (name: string): ItemPrice => {
    const price = judged.get(name) ?? judge(name)
    judged.set(name, price)
    return price
  }
  return {
    rate,
    commissionBps,
    priceOf,
    priceOfPhase: (marketHashName, phase) => {
      const name = phaseName(marketHashName, phase)
      if (effectOfHolds(holds, name, now).blocked)
        return { price: { kind: 'unavailable', reason: 'noPrice' }, pricedAs: marketHashName }
      const phasePrice = nameInForce(holds, name) === name ? priceOf(name) : undefined
      return phasePrice?.kind === 'priced'
        ? { price: phasePrice, pricedAs: name }
        : { price: priceOf(marketHashName), pricedAs: marketHashName }
    },
    nameInForce: (name) => nameInForce(holds, name),
    isSilent: (name) => {
      const { asOf, override } = effectOfHolds(holds, name, now)
      return override === null && freshOf(prices.get(name) ?? [], rules, asOf).length === 0
    },
    bases: () => bases,
  }
}

/** The override in the form that a quote stores as the basis of a price. */
const priceOfOverride = (usdMicros: bigint, now: Date): SourcePrice => ({
  source: OPERATOR_SOURCE,
  usdMicros,
  levelUsdMicros: null,
  popularity: 0,
  popularityKind: 'listings',
  asOf: now,
  earlier: null,
})

/** True if the operator has blocked one of these items. */
export async function isBlocked(db: Db | Tx, game: Game, names: readonly string[]): Promise<boolean> {
  const holds = await readPriceHolds(db, game, names)
  const blocks = holds.filter(({ kind }) => kind === 'blocked')
  return names.some((name) => blocks.some((hold) => covers(hold, name)))
}

/**
 * The newest rate of a web source other than the reference; without one, the reference's rate; without that, the rate
 * in the operator's file.
 */
async function currentRate(
  db: Db | Tx,
  currency: Currency,
  now: Date,
): Promise<Rate | { refused: RateRefusal | 'missing' }> {
  const latest = await latestRates(db, currency, now)
  // Any other source has the index -1, so it comes first.
  const lastResorts = [REFERENCE_SOURCE, FILE_SOURCE]
  const rows = latest.toSorted((a, b) => lastResorts.indexOf(a.source) - lastResorts.indexOf(b.source))
  const answers = rows.map((row) => ({ row, answer: readRate(currency, row, now) }))
  for (const { row, answer } of answers) {
    if (answer.kind === 'rate') return { rateId: row.id, currency, perUsd: answer.perUsd }
  }
  const first = answers[0]?.answer
  return { refused: first?.kind === 'refused' ? first.reason : 'missing' }
}

/** Smallest total of a trade: the larger of the game's minimum and the store's, in minor units. */
export function minimumOf(game: Game, { perUsd }: Pick<Rate, 'perUsd'>, storeMinimum: bigint | null): bigint {
  const ofGame = minimumInMinorUnits(GAME_FACTS[game].minSumUsdCents, perUsd)
  return storeMinimum !== null && storeMinimum > ofGame ? storeMinimum : ofGame
}
