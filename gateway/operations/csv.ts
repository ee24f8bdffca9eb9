/** Formats tables as CSV with a header row. */
import { textCell } from '../../contract/csv.ts'

type Cell = string | number | bigint | boolean | Date | null | undefined

export function csvLines<ROW extends Record<COLUMN, Cell>, COLUMN extends string>(
  columns: readonly COLUMN[],
  rows: readonly ROW[],
): string[] {
  return [columns.join(','), ...rows.map((row) => columns.map((column) => cellOf(row[column])).join(','))]
}

/** A negative number begins like a spreadsheet formula, but needs no escaping. */
const NEGATIVE_NUMBER = /^-\d{1,20}(?:\.\d{1,8})?$/

function cellOf(value: Cell): string {
  if (value instanceof Date) return value.toISOString()
  return typeof value === 'string' && !NEGATIVE_NUMBER.test(value) ? textCell(value) : String(value ?? '')
}
