/** Texts in CSV. Names are hostile: a program for sheets runs what begins like a formula. */

/** Full-width signs count as the plain ones where the language of the program has them. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/

/** A formula is made plain text. */
export function textCell(text: string): string {
  const plain = FORMULA.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}
