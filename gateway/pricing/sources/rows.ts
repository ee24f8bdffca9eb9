/** The fields and rules that several sources share. */
import { z } from 'zod'
import type { PriceRow } from './source.ts'

/** The most rows of a list of prices. The longest known list has 30,000. */
export const MAX_ROWS = 100_000

/** Refuses a name that PostgreSQL cannot store as text: one such name would keep out the source's entire list. */
export const nameSchema = z
  .string()
  .min(1)
  .max(200)
  .refine((name) => name.isWellFormed() && !name.includes('\0'))
/**
 * A time in seconds since 1970. A larger number is in milliseconds, or no date at all: read as seconds, it would make
 * old prices count as new.
 */
export const secondsSchema = z.int().positive().max(1e11)
export const countSchema = z.coerce.number().int().nonnegative().max(1e9)

/** Dollars as a decimal, in text or as a number, below ten million → millionths, rounded down. */
export const dollarsSchema = z
  .union([z.string(), z.number()])
  .transform((value) => microsOf(String(value)))
  .pipe(z.bigint())

/** Returns undefined unless the text is a plain decimal below ten million, without a sign, an exponent or a comma. */
export function microsOf(dollars: string): bigint | undefined {
  const match = /^(\d{1,7})(?:\.(\d{1,20}))?$/.exec(dollars)
  if (match === null) return undefined
  return BigInt(match[1] ?? '') * 1_000_000n + BigInt((match[2] ?? '').slice(0, 6).padEnd(6, '0'))
}

/** Returns one row for each name, without prices of zero. If a name has several rows, the cheapest counts. */
export function cheapest(rows: readonly PriceRow[]): PriceRow[] {
  const cheapestByName = new Map<string, PriceRow>()
  for (const row of rows) {
    const known = cheapestByName.get(row.marketHashName)
    if (row.usdMicros > 0n && (known === undefined || row.usdMicros < known.usdMicros)) {
      cheapestByName.set(row.marketHashName, row)
    }
  }
  return [...cheapestByName.values()]
}
