/** Escapes texts for CSV. Names are hostile: a spreadsheet runs text that starts like a formula. */

/** In some locales, spreadsheets treat full-width signs like plain ones. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/

/** Returns the cell for a text: quoted if necessary, and never a formula. */
export function textCell(text: string): string {
  const plain = FORMULA.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}
