/** Prices from a JSON file: the operator's own, or the one for the sandbox's items. */
import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { GAMES } from '../../../contract/games.ts'
import { CURRENCIES } from '../../../contract/money.ts'
import type { Clock } from '../../kit/clock.ts'
import { FILE_SOURCE } from '../price.ts'
import { MAX_ROWS, microsOf, nameSchema } from './rows.ts'
import type { PriceRow, PriceSource } from './source.ts'

export const SANDBOX_PRICES = new URL('./sandbox-prices.json', import.meta.url)

const DOLLARS = /^\d{1,7}(\.\d{1,6})?$/

const COUNTS = ['sales30d', 'sales7d', 'listings'] as const

const rowSchema = z
  .strictObject({
    name: nameSchema,
    usd: z.string().regex(DOLLARS, 'must be dollars in quotes, such as "12.50"'),
    sales30d: z.int().nonnegative().max(1e9).optional(),
    sales7d: z.int().nonnegative().max(1e9).optional(),
    listings: z.int().nonnegative().max(1e9).optional(),
  })
  .refine((row) => COUNTS.filter((count) => row[count] !== undefined).length === 1, {
    error: 'needs exactly one of sales30d, sales7d and listings',
  })

const fileSchema = z.strictObject({
  /** The time of the prices and the rates; by default the moment when the file is read. */
  asOf: z.iso.datetime().optional(),
  rates: z.partialRecord(z.enum(CURRENCIES), z.string()),
  prices: z.partialRecord(z.enum(GAMES), z.array(rowSchema).max(MAX_ROWS)),
})

type FileRow = z.infer<typeof rowSchema>

/** A source that reads the file again each time, so an edited price counts from the next read on. */
export function filePrices({ path, clock }: { path: string | URL; clock: Clock }): PriceSource {
  const read = async (signal: AbortSignal) => {
    const text = await readFile(path, { encoding: 'utf8', signal })
    const parsed = fileSchema.safeParse(JSON.parse(text))
    if (!parsed.success) throw new Error(`the price file is invalid:\n${z.prettifyError(parsed.error)}`)
    const { asOf, ...content } = parsed.data
    return { ...content, asOf: asOf === undefined ? clock.now() : new Date(asOf) }
  }
  return {
    name: FILE_SOURCE,
    pace: { everyMs: 10 * 60_000, gapMs: 0 },
    isLocal: true,
    fetch: async (game, signal) => {
      const { prices, asOf } = await read(signal)
      return (prices[game] ?? []).filter(({ usd }) => micros(usd) > 0n).map((row) => priceRow(row, asOf))
    },
    fetchRates: async (signal) => {
      const { rates, asOf } = await read(signal)
      return CURRENCIES.flatMap((currency) => {
        const perUsd = rates[currency]
        return perUsd === undefined ? [] : [{ currency, perUsd, asOf }]
      })
    },
  }
}

function priceRow(row: FileRow, asOf: Date): PriceRow {
  const counted = COUNTS.find((count) => row[count] !== undefined) ?? 'listings'
  return {
    marketHashName: row.name,
    usdMicros: micros(row.usd),
    // The price itself serves as the level, so it needs no second source.
    levelUsdMicros: micros(row.usd),
    popularity: row[counted] ?? 0,
    popularityKind: counted,
    asOf,
  }
}

const micros = (dollars: string): bigint => microsOf(dollars) ?? 0n
