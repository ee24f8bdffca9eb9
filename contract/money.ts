/** Currencies a deposit may be in. */
export const CURRENCIES = ['USD', 'EUR', 'BRL'] as const

export type Currency = (typeof CURRENCIES)[number]

/** Digits after the decimal point of an amount in each currency (ISO 4217). */
export const CURRENCY_EXPONENT: Record<Currency, number> = { USD: 2, EUR: 2, BRL: 2 }

/** Minor units as a decimal: 84_000 cents → `840.00`. */
export const decimalOf = (minor: number | bigint, currency: Currency): string =>
  withDecimals(minor, CURRENCY_EXPONENT[currency])

/** Minor units as a number for a formatter or a cell of a spreadsheet: 84_050 cents → 840.5. */
export const majorOf = (minor: number, currency: Currency): number => Number(decimalOf(minor, currency))

/** Writes a whole number with a point before its last `digits` digits. */
export function withDecimals(minor: number | bigint, digits: number): string {
  const sign = minor < 0 ? '-' : ''
  const text = String(minor < 0 ? -minor : minor).padStart(digits + 1, '0')
  return digits === 0 ? sign + text : `${sign}${text.slice(0, -digits)}.${text.slice(-digits)}`
}

/** Prices of items are in millionths of a dollar. */
export const MICROS_PER_CENT = 10_000n

/** The causes of movements in a store's statement. */
export const MOVEMENT_CAUSES = [
  /** A delivered trade was credited. */
  'delivered',
  /** Held credit became available: Steam's protection ended, or an operator released it. */
  'released',
  /** Delivered items went back to the shopper, as Steam or an operator reported. */
  'reversed',
  /** An operator paid the store. */
  'paid_out',
  /** A recorded payout did not happen, so its amount is available again. */
  'payout_voided',
  /** A credit or debit by an operator. */
  'adjusted',
  /** An operator gave up what the store owes. */
  'written_off',
] as const

/** Formats hundredths of a percent as `24.50`. */
export const percentOf = (bps: number): string => withDecimals(bps, 2)
