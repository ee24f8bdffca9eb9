/** Escapes texts for CSV. Names are hostile: a spreadsheet runs text that starts like a formula. */

/** In some locales, spreadsheets treat full-width signs like plain ones. */
const FORMULA = /^ *[=+\-@\t\r\n＝＋－＠]/
/**
 * A separator inside a text, before characters that start a formula. Where the comma separates decimals, spreadsheets
 * split lines at semicolons, even between quotes that begin in the middle of a cell.
 */
const BEFORE_FORMULA = /[;\t\r\n][ "]*(?=[=+\-@＝＋－＠])/g

/** Returns the cell for a text: quoted if necessary, and never a formula. */
export function textCell(text: string): string {
  const inner = text.replace(BEFORE_FORMULA, "$&'")
  const unquoted = FORMULA.test(inner) ? `'${inner}` : inner
  return /[",\r\n]/.test(unquoted) ? `"${unquoted.replaceAll('"', '""')}"` : unquoted
}
