/** Judges which items of a game are accepted, by its pricing rules and an operator's holds. */
import type { Game } from '../../contract/games.ts'
import type { Db } from '../db/client.ts'
import { countedNamesOf, judgeName, type Verdict } from './coverage.ts'
import type { PricingRules, SourcePrice } from './price.ts'
import { namesOfGame, readPriceHolds, readPrices } from './store.ts'

/** Items per batch. Other work can run between two batches. */
const NAMES_AT_A_TIME = 1_000

type JudgeOptions = { game: Game; rules: PricingRules; now: Date }

/** `prices`: of the item's own name, even if a hold makes the price of another name count (`nameInForce`). */
export type JudgedItem = { item: string; prices: readonly SourcePrice[]; verdict: Verdict }

/** Every item with a price from a source, ordered by name. */
export async function* judgeItems(db: Db, { game, rules, now }: JudgeOptions): AsyncGenerator<JudgedItem> {
  const holds = await readPriceHolds(db, game)
  for (let after = ''; ; ) {
    const names = await namesOfGame(db, game, { after, limit: NAMES_AT_A_TIME })
    const pricesByName = await readPrices(db, game, [...new Set(names.flatMap(countedNamesOf))])
    for (const item of names) {
      const { verdict } = judgeName(item, { pricesByName, holds, rules: rules[game], now })
      yield { item, prices: pricesByName.get(item) ?? [], verdict }
    }
    after = names.at(-1) ?? ''
    if (names.length < NAMES_AT_A_TIME) return
  }
}
