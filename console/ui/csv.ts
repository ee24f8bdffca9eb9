import { textCell } from '../../contract/csv.ts'

export type Cell = string | number | null

const cellOf = (cell: Cell): string => (typeof cell === 'number' ? String(cell) : textCell(cell ?? ''))

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
