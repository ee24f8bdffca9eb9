/** Skinport: the prices of items on sale. Past sales give the weekly level and the number sold in 30 days. */
import { z } from 'zod'
import { GAME_FACTS, type Game } from '../../../contract/games.ts'
import { phaseFromWord, phaseName } from '../phase.ts'
import { getJson, readAnswer, readRows, SourceError } from './http.ts'
import { cheapest, countSchema, dollarsSchema, MAX_ROWS, nameSchema, secondsSchema } from './rows.ts'
import type { PriceRow, PriceSource } from './source.ts'

const listSchema = z.array(z.unknown()).max(MAX_ROWS)

const itemSchema = z.object({
  market_hash_name: nameSchema,
  /** The phase of a Doppler; null for other items. */
  version: z.string().nullish(),
  currency: z.string(),
  /** Null if no such item is on sale. */
  min_price: dollarsSchema.nullable(),
  updated_at: secondsSchema,
})

const soldSchema = z.object({
  market_hash_name: nameSchema,
  version: z.string().nullish(),
  currency: z.string(),
  last_7_days: z.object({
    /** Null if no such item was sold. */
    avg: dollarsSchema.nullable(),
    median: dollarsSchema.nullish(),
    volume: countSchema,
  }),
  last_30_days: z.object({ volume: countSchema }),
})

/** `volume`: the number sold in 30 days. */
type Sold = { levelUsdMicros: bigint | null; volume: number }

/** Two calls per game. Skinport allows 8 in 5 minutes. */
export function skinportPrices(base: string): PriceSource {
  const ask = async <Row extends { currency: string }>(
    path: string,
    { schema, game, signal }: { schema: z.ZodType<Row>; game: Game; signal: AbortSignal },
  ): Promise<Row[]> => {
    const url = new URL(path, base)
    url.searchParams.set('app_id', String(GAME_FACTS[game].appId))
    url.searchParams.set('currency', 'USD')
    const rows = await readRows(schema, readAnswer(listSchema, await getJson(url, signal)))
    const foreign = rows.find(({ currency }) => currency !== 'USD')
    if (foreign) throw new SourceError('answered in a currency that was not requested')
    return rows
  }
  return {
    name: 'skinport',
    pace: { everyMs: 20 * 60_000, gapMs: 100_000 },
    isLocal: false,
    fetch: async (game, signal) => {
      const items = await ask('/v1/items', { schema: itemSchema, game, signal })
      const sales = await ask('/v1/sales/history', { schema: soldSchema, game, signal })
      const sold = soldByName(sales)
      return cheapest(
        items.flatMap((item) => namesOf(item).flatMap((name) => priceRow(name, item, sold.get(name)))),
      )
    },
  }
}

/** The price of a Doppler's phase also counts for the market name, which thus has the price of the cheapest phase. */
function namesOf({
  market_hash_name: name,
  version,
}: {
  market_hash_name: string
  version?: string | null | undefined
}): string[] {
  const phase = phaseFromWord(name, version)
  return phase === undefined ? [name] : [name, phaseName(name, phase)]
}

/** A market name has the sum of the sales of all its phases, and the lowest of their levels. */
function soldByName(sales: readonly z.output<typeof soldSchema>[]): ReadonlyMap<string, Sold> {
  const sold = new Map<string, Sold>()
  const rows = sales.flatMap((row) => namesOf(row).map((name) => ({ ...row, name })))
  for (const { name, last_7_days: week, last_30_days: month } of rows) {
    const weekly = week.median ?? week.avg
    const level = weekly !== null && weekly > 0n ? weekly : null
    const known = sold.get(name) ?? { levelUsdMicros: null, volume: 0 }
    const isLower = level !== null && (known.levelUsdMicros === null || level < known.levelUsdMicros)
    sold.set(name, {
      levelUsdMicros: isLower ? level : known.levelUsdMicros,
      volume: Math.min(known.volume + month.volume, 1e9),
    })
  }
  return sold
}

function priceRow(name: string, item: z.output<typeof itemSchema>, sold: Sold | undefined): PriceRow[] {
  if (item.min_price === null) return []
  return [
    {
      marketHashName: name,
      usdMicros: item.min_price,
      levelUsdMicros: sold?.levelUsdMicros ?? null,
      popularity: sold?.volume ?? 0,
      popularityKind: 'sales30d',
      asOf: new Date(item.updated_at * 1000),
    },
  ]
}
