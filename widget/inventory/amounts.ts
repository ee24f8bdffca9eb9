/** Amounts for which a shopper can let the page pick items. All in minor units. */
import { CURRENCY_EXPONENT, type Currency } from '../../contract/money.ts'
import type { Inventory, Payment } from '../../contract/widget-api.ts'
import { reachOf } from '../flow/selectors.ts'

const ROUND: Record<Currency, readonly number[]> = {
  USD: [500, 1_000, 2_500, 5_000],
  EUR: [500, 1_000, 2_500, 5_000],
  BRL: [2_500, 5_000, 10_000, 25_000],
}

/** Returns the deposit's target, or else round amounts, if they are payable and one offer can reach them. */
export function suggestedAmounts(
  { items, maxItems, minPrice }: Inventory,
  { targetAmount, maxAmount, currency }: Payment,
): number[] {
  const reach = reachOf(items, maxItems)
  const most = Math.min(reach, maxAmount ?? reach)
  const candidates = targetAmount === null ? ROUND[currency] : [targetAmount]
  return candidates.filter((amount) => amount >= minPrice && amount <= most)
}

/** No offer is worth an amount with more digits before the point. With this many, minor units are a safe integer. */
const MOST_DIGITS = 9

/** Parses an amount above zero. Only the currency's decimals may follow a point or comma. Undefined for any other text. */
export function amountIn(text: string, currency: Currency): number | undefined {
  const plain = text.replace(/[\s\u00a0\u202f$€]/g, '').replace('R', '')
  const [whole = '', decimals = '', ...more] = plain.split(/[.,]/)
  const isWhole = /^\d+$/.test(whole) && whole.length <= MOST_DIGITS
  const digits = CURRENCY_EXPONENT[currency]
  if (!isWhole || more.length > 0 || !/^\d*$/.test(decimals) || decimals.length > digits) return undefined
  const amount = Number(whole + decimals.padEnd(digits, '0'))
  return amount > 0 ? amount : undefined
}
