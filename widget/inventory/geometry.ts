/** The places of the grid's cells, and the rows to render. Lengths in CSS pixels. */

export type Layout = {
  columns: number
  /** The width of a cell. */
  cell: number
  /** The width left on either side of a full row. */
  side: number
  rowHeight: number
  rows: number
}

/** Width of the picture on every card. Picture and border fit into a card, unless the grid itself is narrower. */
export const PICTURE = 100

export const DESKTOP_CELL = { max: 165, min: 120, gap: 12, height: 220 } as const
export const MOBILE_CELL = { max: 110, min: PICTURE + 2, gap: 6, height: 191 } as const

/** Only with this smaller gap do three cards, and room at the edges, fit a page of 320 px. */
export const CLOSE_CELL = { ...MOBILE_CELL, gap: 3 } as const

export function cellSizeOf(width: number, isNarrow: boolean): CellSize {
  if (!isNarrow) return DESKTOP_CELL
  return width < 3 * MOBILE_CELL.min + 2 * MOBILE_CELL.gap ? CLOSE_CELL : MOBILE_CELL
}

type CellSize = { max: number; min: number; gap: number; height: number }

/** Fills the width with equal cells, no wider than the maximum. The sides take the rest. */
export function layoutOf(width: number, count: number, size: CellSize): Layout {
  // The fewest columns whose cells do not exceed the maximum. If those are too narrow, use one column fewer.
  const fewestColumns = Math.max(1, Math.ceil((width + size.gap) / (size.max + size.gap)))
  const widestCell = (width - size.gap * (fewestColumns - 1)) / fewestColumns
  const columns = widestCell >= size.min ? fewestColumns : Math.max(1, fewestColumns - 1)
  const cell = Math.max(1, Math.min(size.max, Math.floor((width - size.gap * (columns - 1)) / columns)))
  const side = Math.max(0, (width - cell * columns - size.gap * (columns - 1)) / 2)
  return { columns, cell, side, rowHeight: size.height, rows: Math.ceil(count / columns) }
}

/** Returns the rows between `top` and `bottom` (from the grid's upper edge), with `extra` rows around them. */
export function visibleRows(
  layout: Layout,
  view: { top: number; bottom: number; rowGap: number },
  extra = 3,
): { first: number; last: number } {
  const stride = layout.rowHeight + view.rowGap
  const clamp = (row: number): number => Math.min(Math.max(row, 0), Math.max(layout.rows - 1, 0))
  return {
    first: clamp(Math.floor(view.top / stride) - extra),
    last: clamp(Math.floor(view.bottom / stride) + extra),
  }
}

/** The place of the items: its width, how far its top edge is below the window's, and the window's height. */
export type Room = { width: number; top: number; windowHeight: number }

/** Returns the rows in view, or only the first row if `room` is unknown. The rows around them can be drawn later. */
export function firstRows(
  layout: Layout,
  room: Room | null,
  rowGap: number,
): { first: number; last: number } {
  if (room === null) return { first: 0, last: 0 }
  return visibleRows(layout, { top: -room.top, bottom: room.windowHeight - room.top, rowGap }, 0)
}

/** Returns the cell to which an arrow, Home, End or Page key moves the focus; `from` for any other key. */
export function nextCell(
  key: string,
  from: number,
  grid: { columns: number; count: number; pageRows: number; goesToCorner: boolean },
): number {
  const last = grid.count - 1
  const rowStart = from - (from % grid.columns)
  const moves: Record<string, number> = {
    ArrowLeft: from - 1,
    ArrowRight: from + 1,
    ArrowUp: from - grid.columns >= 0 ? from - grid.columns : from,
    ArrowDown: from + grid.columns <= last ? from + grid.columns : from,
    Home: grid.goesToCorner ? 0 : rowStart,
    End: grid.goesToCorner ? last : rowStart + grid.columns - 1,
    PageUp: Math.max(from % grid.columns, from - grid.columns * grid.pageRows),
    PageDown: from + grid.columns * grid.pageRows,
  }
  return Math.min(Math.max(moves[key] ?? from, 0), Math.max(last, 0))
}
