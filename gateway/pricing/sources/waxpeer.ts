/** Waxpeer: the lowest prices of items on sale, in whole thousandths of a dollar. */
import { z } from 'zod'
import type { Game } from '../../../contract/games.ts'
import type { Clock } from '../../kit/clock.ts'
import { getJson, readAnswer, readRows } from './http.ts'
import { cheapest, countSchema, MAX_ROWS, nameSchema } from './rows.ts'
import type { PriceSource } from './source.ts'

const GAME_NAME: Record<Game, string> = { cs: 'csgo', dota: 'dota2', rust: 'rust', tf: 'tf2' }
const MICROS_PER_UNIT = 1_000n

const answerSchema = z.object({ success: z.literal(true), items: z.array(z.unknown()).max(MAX_ROWS) })

const rowSchema = z.object({
  name: nameSchema,
  count: countSchema,
  min: z.int().nonnegative().max(1e10),
})

/** Answers contain no time, so a price is as old as its call. Waxpeer allows 60 calls a minute. */
export function waxpeerPrices({ base, clock }: { base: string; clock: Clock }): PriceSource {
  return {
    name: 'waxpeer',
    pace: { everyMs: 10 * 60_000, gapMs: 5_000 },
    isLocal: false,
    fetch: async (game, signal) => {
      const url = new URL('/v1/prices', base)
      url.searchParams.set('game', GAME_NAME[game])
      url.searchParams.set('minified', '0')
      const asOf = clock.now()
      const { items } = readAnswer(answerSchema, await getJson(url, signal))
      return cheapest(
        (await readRows(rowSchema, items)).map((row) => ({
          marketHashName: row.name,
          usdMicros: BigInt(row.min) * MICROS_PER_UNIT,
          levelUsdMicros: null,
          popularity: row.count,
          popularityKind: 'listings',
          asOf,
        })),
      )
    },
  }
}
