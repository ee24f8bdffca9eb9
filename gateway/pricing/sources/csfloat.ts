/** CSFloat: the lowest price of what is on sale for Counter-Strike, in cents. */
import { z } from 'zod'
import type { Clock } from '../../kit/clock.ts'
import { getJson, readAnswer, readRows } from './http.ts'
import { cheapest, countSchema, MAX_ROWS, nameSchema } from './rows.ts'
import type { PriceSource } from './source.ts'

const MICROS_PER_CENT = 10_000n

const answerSchema = z.array(z.unknown()).max(MAX_ROWS)

const rowSchema = z.object({
  market_hash_name: nameSchema,
  quantity: countSchema,
  min_price: z.int().nonnegative().max(1e9),
})

/** It tells no time: a price is as old as the call. The price of an item that nobody sells is made up. */
export function csfloatPrices({ base, clock }: { base: string; clock: Clock }): PriceSource {
  return {
    name: 'csfloat',
    pace: { everyMs: 15 * 60_000, gapMs: 60_000 },
    isLocal: false,
    games: ['cs'],
    fetch: async (_game, signal) => {
      const asOf = clock.now()
      const answer = await getJson(new URL('/api/v1/listings/price-list', base), signal)
      const rows = await readRows(rowSchema, readAnswer(answerSchema, answer))
      return cheapest(
        rows
          .filter(({ quantity }) => quantity > 0)
          .map((row) => ({
            marketHashName: row.market_hash_name,
            usdMicros: BigInt(row.min_price) * MICROS_PER_CENT,
            levelUsdMicros: null,
            popularity: row.quantity,
            popularityKind: 'listings',
            asOf,
          })),
      )
    },
  }
}
