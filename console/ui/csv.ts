/** A file of exactly what a filter shows. */

export type Cell = string | number | null

/** A program for sheets would run a text that begins like a formula, and a shopper may have written it. */
const FORMULA = /^[=+\-@\t\r]/

function cellOf(cell: Cell): string {
  if (typeof cell === 'number') return String(cell)
  const text = cell ?? ''
  const safe = FORMULA.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

export const toCsv = (rows: readonly (readonly Cell[])[]): string =>
  `${rows.map((row) => row.map(cellOf).join(',')).join('\r\n')}\r\n`

export function download(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: 'text/csv;charset=utf-8' }))
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  URL.revokeObjectURL(address)
}
