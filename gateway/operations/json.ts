/** JSON output of operations: ids are strings, amounts are numbers, times are ISO 8601. */

const AMOUNT = /(?:Minor|Micros)$/

/** Formats one line of JSON. A bigint is an amount if its name ends in `Minor` or `Micros`, otherwise an id. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (key, entry: unknown) => {
    if (typeof entry !== 'bigint') return entry
    return AMOUNT.test(key) ? exactNumber(entry) : String(entry)
  })
}

/** Throws if the amount would be rounded. */
function exactNumber(amount: bigint): number {
  const number = Number(amount)
  if (!Number.isSafeInteger(number)) throw new RangeError(`${amount} is too large for a JSON number`)
  return number
}
