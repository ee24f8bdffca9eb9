/** Parts that the schemas of both markets' answers share. */
import { z } from 'zod'

export const MOST_ROWS = 20_000
const MOST_PRICES = 200_000

/** A whole number, which markets send bare or in quotes. */
export const digits = z
  .union([z.string().regex(/^\d{1,20}$/), z.int().nonnegative()])
  .transform((value): string => String(value))
export const quotedDecimal = z.string().regex(/^-?\d{1,13}(?:\.\d{1,6})?$/)
/** A number, which markets send bare or in quotes. */
export const decimal = z.union([z.number(), quotedDecimal.transform(Number)])
/** Steam's number of a game. */
export const appNumber = digits.transform(Number).pipe(z.int32().positive())
/** The end of 9999, the last year that the vault can read from its log. A later time must be in another unit. */
export const LAST_MS = Date.UTC(10_000, 0) - 1
export const shortText = z.string().max(500)

/** A list of rows. An unreadable row must not keep the others from being read. */
export const listOf = <T>(row: z.ZodType<T>, most = MOST_ROWS) =>
  z
    .array(z.unknown())
    .max(most)
    .transform((all) => {
      const rows: T[] = []
      const unread: unknown[] = []
      for (const each of all) {
        const parsed = row.safeParse(each)
        if (parsed.success) rows.push(parsed.data)
        else unread.push(each)
      }
      return { rows, unread }
    })

export const priceListOf = <T>(row: z.ZodType<T>) => z.object({ items: listOf(row, MOST_PRICES) })

/** The number of an unreadable deal, for messages. */
export function nameIn(row: unknown, field: string): string {
  const name = typeof row === 'object' && row !== null ? Reflect.get(row, field) : undefined
  return typeof name === 'string' || typeof name === 'number'
    ? String(name).slice(0, 100)
    : 'without a number'
}
