/**
 * The integers in which both the market.csgo.com family and Waxpeer write amounts. With a wrong divisor, an item could
 * be sold for a tenth of its price.
 */

/** Market units per major unit of the currency, and per minor unit. */
const UNITS: Readonly<Record<string, { ofMajor: number; ofMinor: bigint }>> = {
  USD: { ofMajor: 1000, ofMinor: 10n },
  EUR: { ofMajor: 1000, ofMinor: 10n },
  RUB: { ofMajor: 100, ofMinor: 1n },
}

export type Scale = {
  currency: string
  toUnits(minor: bigint): bigint
  /**
   * Rounds down, because the books have no fractions of a minor unit. So after many sales, they have a little less than
   * the market.
   */
  toMinor(units: bigint): bigint
  /** Converts an amount in major units, which has decimals, to minor units. */
  majorToMinor(major: number): bigint
  /** True if `shown`, a number in market units or in major units, is the price `minor`. */
  isPrice(shown: number, minor: bigint): boolean
}

export function scaleOf(currency: string): Scale | undefined {
  const units = UNITS[currency]
  if (units === undefined) return undefined
  const { ofMajor, ofMinor } = units
  const toUnits = (minor: bigint) => minor * ofMinor
  const toMinor = (amount: bigint) => amount / ofMinor
  return {
    currency,
    toUnits,
    toMinor,
    majorToMinor: (major) => toMinor(BigInt(Math.round(major * ofMajor))),
    isPrice(shown, minor) {
      const price = Number(toUnits(minor))
      return shown === price || Math.round(shown * ofMajor) === price
    },
  }
}
