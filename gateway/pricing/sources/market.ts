/** market.csgo.com and its sister markets: one host for each game, all with the same form of answer. */
import { z } from 'zod'
import type { Game } from '../../../contract/games.ts'
import { getJson, readAnswer, readRows } from './http.ts'
import { cheapest, countSchema, dollarsSchema, MAX_ROWS, nameSchema, secondsSchema } from './rows.ts'
import type { PriceSource } from './source.ts'

const answerSchema = z.object({
  success: z.literal(true),
  /** The time of every row. */
  time: secondsSchema,
  currency: z.literal('USD'),
  items: z.array(z.unknown()).max(MAX_ROWS),
})

const rowSchema = z.object({
  market_hash_name: nameSchema,
  /** Price and volume are text. The volume counts items on sale, not sales. */
  price: dollarsSchema,
  volume: countSchema,
})

/**
 * `hosts`: the address of each game's market. The markets revoke API keys used for more than 5 calls a second, so we
 * ask slowly even without a key.
 */
export function marketPrices(hosts: Record<Game, string>): PriceSource {
  return {
    name: 'market',
    pace: { everyMs: 10 * 60_000, gapMs: 2_000 },
    isLocal: false,
    fetch: async (game, signal) => {
      const body = await getJson(new URL('/api/v2/prices/USD.json', hosts[game]), signal)
      const { time, items } = readAnswer(answerSchema, body)
      const asOf = new Date(time * 1000)
      return cheapest(
        (await readRows(rowSchema, items)).map((row) => ({
          marketHashName: row.market_hash_name,
          usdMicros: row.price,
          levelUsdMicros: null,
          popularity: row.volume,
          popularityKind: 'listings',
          asOf,
        })),
      )
    },
  }
}
