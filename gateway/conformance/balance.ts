import { beginningOf, reasonOfSilence } from './handler-client.ts'

/** Reads the customer's spendable balance, in minor units. Rejects if the address does not answer with an amount. */
export type ReadBalance = (currency: string) => Promise<number>

const DEADLINE_MS = 10_000

export function createBalanceReader(url: string, customer: string): ReadBalance {
  const address = url.replaceAll('{CUSTOMER}', encodeURIComponent(customer))
  return async (currency) => {
    const text = await bodyOf(address)
    const amount = amountIn(text, currency)
    if (amount === undefined) {
      throw new Error(
        `${address} must answer with minor units: a whole number, or JSON such as {"USD": 1250}. It said: ${text.slice(0, 80)}`,
      )
    }
    return amount
  }
}

async function bodyOf(address: string): Promise<string> {
  try {
    const answer = await fetch(address, { signal: AbortSignal.timeout(DEADLINE_MS) })
    return await beginningOf(answer)
  } catch (error) {
    throw new Error(`${address} cannot be reached: ${reasonOfSilence(error)}`)
  }
}

function amountIn(text: string, currency: string): number | undefined {
  if (/^\s*-?\d{1,15}\s*$/.test(text)) return Number(text)
  try {
    return amountOf(JSON.parse(text), currency)
  } catch {
    return undefined
  }
}

/** Accepts a whole number, amounts by currency, or either of these in a field `total` or `balance`. */
function amountOf(value: unknown, currency: string): number | undefined {
  if (typeof value === 'number') return Number.isInteger(value) ? value : undefined
  if (typeof value !== 'object' || value === null) return undefined
  const inCurrency: unknown = Reflect.get(value, currency)
  if (inCurrency !== undefined) return amountOf(inCurrency, currency)
  for (const name of ['total', 'balance']) {
    const inner: unknown = Reflect.get(value, name)
    if (inner !== undefined) return amountOf(inner, currency)
  }
  // Stores often omit a currency in which nothing was ever credited.
  return Object.keys(value).every((key) => /^[A-Z]{3}$/.test(key)) ? 0 : undefined
}
