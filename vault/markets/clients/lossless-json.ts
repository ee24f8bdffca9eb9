/**
 * JSON whose numbers lose nothing: neither the digits of asset ids, which are too large for JavaScript, nor the decimal
 * point of an amount such as 30.00. Only the point shows that the amount may be in dollars.
 */

/** Takes linear time even for hostile texts: neither alternative can fail after its loop. */
const STRINGS_AND_NUMBERS = /"(?:[^"\\]|\\.)*"?|[-+.\deE]+/g
/** Does not match a fraction such as 0.30000000000000004. */
const LONG_NUMBER = /^-?\d{16,}$/
const WHOLE_WITH_POINT = /^-?\d+\.0+$/

const losesText = (literal: string): boolean => LONG_NUMBER.test(literal) || WHOLE_WITH_POINT.test(literal)

/**
 * Parses JSON; whole numbers of 16 digits or more, or with a point, become strings. Throws if the text is not JSON.
 */
export function parseLossless(text: string): unknown {
  return JSON.parse(
    text.replace(STRINGS_AND_NUMBERS, (literal) => (losesText(literal) ? `"${literal}"` : literal)),
  )
}

/** Returns the digits of a whole number, to be written into JSON without quotes. Throws for anything else. */
export function bareNumber(digits: string): string {
  if (!/^(?:0|[1-9]\d{0,19})$/.test(digits))
    throw new RangeError(`${digits.slice(0, 30)} is not a whole number`)
  return digits
}
