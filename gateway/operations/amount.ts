/** Amounts and percentages as people read and type them, such as 840.00, with the currency's number of decimals. */
import { CURRENCY_EXPONENT, type Currency, decimalOf } from '../../contract/money.ts'

export const CENTS_PER_DOLLAR = 100n

/** Formats minor units as `840.00 USD`. */
export function formatAmount(amountMinor: bigint, currency: Currency): string {
  return `${decimalOf(amountMinor, currency)} ${currency}`
}

/** Parses `1250.00` into minor units. Returns undefined unless it has all decimals, because `1250` could mean 12.50. */
export function parseAmount(text: string, currency: Currency): bigint | undefined {
  const digits = CURRENCY_EXPONENT[currency]
  const form = digits === 0 ? /^(\d{1,13})$/ : new RegExp(`^(\\d{1,13})\\.(\\d{${digits}})$`)
  const [, whole, fraction = ''] = form.exec(text) ?? []
  return whole === undefined ? undefined : BigInt(whole + fraction)
}

/** Parses `24.50` into hundredths of a percent. Returns undefined unless it has two decimals and is below 100. */
export function parsePercent(text: string): number | undefined {
  const [, whole, fraction] = /^(\d{1,2})\.(\d{2})$/.exec(text) ?? []
  return whole === undefined || fraction === undefined ? undefined : Number(whole + fraction)
}
