/** Tables as CSV, with a head. */

type Cell = string | number | bigint | boolean | Date | null | undefined

export function csvLines<ROW extends Record<COLUMN, Cell>, COLUMN extends string>(
  columns: readonly COLUMN[],
  rows: readonly ROW[],
): string[] {
  return [columns.join(','), ...rows.map((row) => columns.map((column) => cellOf(row[column])).join(','))]
}

function cellOf(value: Cell): string {
  if (value instanceof Date) return value.toISOString()
  return typeof value === 'string' ? quoted(value) : String(value ?? '')
}

function quoted(text: string): string {
  // Names are hostile: one that a spreadsheet would take for a formula is made plain text. Losses stay numbers.
  const isFormula = /^[=+\-@\t]/.test(text) && !/^-\d{1,20}(?:\.\d{1,8})?$/.test(text)
  const plain = isFormula ? `'${text}` : text
  return /[",\n\r]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}
