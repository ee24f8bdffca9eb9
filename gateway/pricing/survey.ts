/** Looks through all items of a game, and counts what is taken. */
import { Gauge, type Registry } from 'prom-client'
import { GAMES, type Game } from '../../contract/games.ts'
import type { Db } from '../db/client.ts'
import type { Clock } from '../kit/clock.ts'
import { type Verdict, verdictOf } from './coverage.ts'
import type { PricingRules, SourcePrice } from './price.ts'
import { namesOfGame, readHolds, readPrices } from './store.ts'

/** Between two lots other work has its turn. */
const NAMES_AT_A_TIME = 1_000

type Looking = { game: Game; rules: PricingRules; now: Date }

export type JudgedItem = { item: string; prices: readonly SourcePrice[]; verdict: Verdict }

/** Every item that a source has a price of, in the order of their names. */
export async function* judgedItems(db: Db, { game, rules, now }: Looking): AsyncGenerator<JudgedItem> {
  const holds = await readHolds(db, game)
  for (let after = ''; ; ) {
    const names = await namesOfGame(db, game, { after, limit: NAMES_AT_A_TIME })
    const known = await readPrices(db, game, names)
    for (const item of names) {
      const prices = known.get(item) ?? []
      yield { item, prices, verdict: verdictOf(item, { prices, holds, rules: rules[game], now }) }
    }
    after = names.at(-1) ?? ''
    if (names.length < NAMES_AT_A_TIME) return
  }
}

type PriceGauges = { pricedItems: Gauge<'game' | 'verdict'> }

export const createPriceGauges = (registry: Registry): PriceGauges => ({
  pricedItems: new Gauge({
    name: 'tradetill_price_items',
    help: 'Items with a price at some source, by whether they are taken: accepted, or why not',
    labelNames: ['game', 'verdict'],
    registers: [registry],
  }),
})

type SurveyDeps = { db: Db; clock: Clock; rules: PricingRules; gauges: PriceGauges }

/** Any number of processes may. */
export async function surveyPrices({ db, clock, rules, gauges }: SurveyDeps): Promise<void> {
  for (const game of GAMES) {
    const count = { accepted: 0, not_popular: 0, no_price: 0, in_dispute: 0, too_cheap: 0, blocked: 0 }
    for await (const { verdict } of judgedItems(db, { game, rules, now: clock.now() })) count[verdict] += 1
    for (const [verdict, items] of Object.entries(count)) gauges.pricedItems.set({ game, verdict }, items)
  }
}
