/** The prices of other sellers, the same on both markets. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { type Currency, SCALES } from './games.ts'

/** The price of one US dollar in each currency. */
const RATES: Record<Currency, number> = { USD: 1, EUR: 0.86, RUB: 92 }
/** The lowest price of other sellers, as a share of an item's price. */
const LOWEST_SHARE = 0.98

const fileSchema = z.object({
  prices: z.record(z.string(), z.array(z.object({ name: z.string(), usd: z.string() }))),
})

export type Prices = {
  /** The lowest price of other sellers, in the integer units of `SCALES`. */
  lowest(name: string, currency: Currency): number
  /** All item names in the file. */
  names(): readonly string[]
}

/**
 * Reads prices from a file in the format of the gateway's sandbox prices. An item that is missing gets a price derived
 * from its name.
 */
export function createPrices(file: string | undefined): Prices {
  const known = new Map(
    file === undefined
      ? []
      : Object.values(fileSchema.parse(JSON.parse(readFileSync(file, 'utf8'))).prices)
          .flat()
          .map(({ name, usd }): [string, number] => [name, Number(usd)]),
  )
  const usdOf = (name: string): number =>
    known.get(name) ?? 0.5 + createHash('sha256').update(name).digest().readUInt16BE(0) / 2000
  return {
    lowest: (name, currency) =>
      Math.max(1, Math.round(usdOf(name) * LOWEST_SHARE * RATES[currency] * SCALES[currency])),
    names: () => [...known.keys()],
  }
}
