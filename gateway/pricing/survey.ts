/** Counts the accepted items, and the refused items by reason. */
import { Gauge, type Registry } from 'prom-client'
import { GAMES } from '../../contract/games.ts'
import type { Db } from '../db/client.ts'
import type { Clock } from '../kit/clock.ts'
import { judgeItems } from './judge-items.ts'
import type { PricingRules } from './price.ts'

type PriceGauges = { pricedItems: Gauge<'game' | 'verdict'> }

export const createPriceGauges = (registry: Registry): PriceGauges => ({
  pricedItems: new Gauge({
    name: 'tradetill_price_items',
    help: 'Items with a stored price of a source, by verdict: accepted, or the reason why not',
    labelNames: ['game', 'verdict'],
    registers: [registry],
  }),
})

type SurveyDeps = { db: Db; clock: Clock; rules: PricingRules; gauges: PriceGauges }

/** Updates the gauges. Several processes can do this at the same time. */
export async function surveyPrices({ db, clock, rules, gauges }: SurveyDeps): Promise<void> {
  for (const game of GAMES) {
    const count = { accepted: 0, not_popular: 0, no_price: 0, in_dispute: 0, too_cheap: 0, blocked: 0 }
    for await (const { verdict } of judgeItems(db, { game, rules, now: clock.now() })) count[verdict] += 1
    for (const [verdict, items] of Object.entries(count)) gauges.pricedItems.set({ game, verdict }, items)
  }
}
