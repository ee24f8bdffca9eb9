import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  CLOSE_CELL,
  cellSizeOf,
  DESKTOP_CELL,
  firstRows,
  layoutOf,
  MOBILE_CELL,
  nextCell,
  PICTURE,
  visibleRows,
} from './geometry.ts'

const sizes = fc.constantFrom(DESKTOP_CELL, MOBILE_CELL, CLOSE_CELL)

describe('A-116 the grid', () => {
  it.each([
    ['desktop', DESKTOP_CELL, 165],
    ['mobile', MOBILE_CELL, 110],
  ] as const)('has %s cells no wider than specified', (_what, size, most) => {
    expect(size.max).toBe(most)
    for (let width = 1; width <= 2000; width += 1) {
      expect(layoutOf(width, 60, size).cell).toBeLessThanOrEqual(most)
    }
  })

  it('first draws the rows in view if the grid’s place was measured, and otherwise one row', () => {
    const layout = layoutOf(390, 60, MOBILE_CELL)
    const room = { width: 390, top: 420, windowHeight: 823 }
    const { first, last } = firstRows(layout, room, MOBILE_CELL.gap)
    const stride = layout.rowHeight + MOBILE_CELL.gap
    expect(first).toBe(0)
    expect(room.top + last * stride).toBeLessThan(room.windowHeight)
    expect(room.top + (last + 1) * stride).toBeGreaterThanOrEqual(room.windowHeight)
    expect(firstRows(layout, null, MOBILE_CELL.gap)).toEqual({ first: 0, last: 0 })
  })

  it('D-38 leaves the remaining width at the sides, and is never wider than the page', () => {
    fc.assert(
      fc.property(fc.integer({ min: 300, max: 4000 }), fc.nat(10_000), sizes, (width, count, size) => {
        const { columns, cell, side, rows } = layoutOf(width, count, size)
        expect(columns).toBeGreaterThan(1)
        expect(columns * cell + (columns - 1) * size.gap + 2 * side).toBeCloseTo(width, 6)
        expect(side).toBeGreaterThanOrEqual(0)
        // No further card fits, and none of these could be wider.
        expect(2 * side).toBeLessThan(cell === size.max ? size.max + size.gap : columns)
        expect(cell).toBeGreaterThanOrEqual(Math.min(size.min, width))
        expect(rows * columns).toBeGreaterThanOrEqual(count)
        expect((rows - 1) * columns).toBeLessThan(Math.max(count, 1))
      }),
    )
  })

  it('has one narrow column if nothing else fits', () => {
    for (const width of [0, 1, 50, 100]) {
      const { columns, cell } = layoutOf(width, 5, DESKTOP_CELL)
      expect(columns).toBe(1)
      expect(cell).toBe(Math.max(1, width))
    }
  })

  it.each([
    ['320', 312, 'narrow', 3],
    ['341', 317, 'narrow', 3],
    ['360', 336, 'narrow', 3],
    ['390', 366, 'narrow', 3],
    ['430', 406, 'narrow', 3],
    ['900', 876, 'narrow', 8],
    ['901', 449, 'wide', 3],
    ['1440', 988, 'wide', 6],
  ] as const)(
    'on a page of %s px, where it has %j px and the %s layout, has %d columns at least as wide as a picture',
    (_page, width, kind, columns) => {
      const layout = layoutOf(width, 60, cellSizeOf(width, kind === 'narrow'))
      expect(layout.columns).toBe(columns)
      // With the card's border of 1 px on each side.
      expect(layout.cell).toBeGreaterThanOrEqual(PICTURE + 2)
    },
  )
})

describe('the rows to render', () => {
  const layout = layoutOf(1000, 10_000, DESKTOP_CELL)
  const rowGap = DESKTOP_CELL.gap
  const stride = layout.rowHeight + rowGap

  it('are the rows in view and some around them, even with 10,000 items', () => {
    const view = { top: 100 * stride, bottom: 104 * stride - 1, rowGap }
    expect(visibleRows(layout, view)).toEqual({ first: 97, last: 106 })
    expect(visibleRows(layout, view, 0)).toEqual({ first: 100, last: 103 })
  })

  it('stay within the grid', () => {
    expect(visibleRows(layout, { top: -500, bottom: 10, rowGap }).first).toBe(0)
    const last = layout.rows - 1
    expect(visibleRows(layout, { top: 1e9, bottom: 1e9, rowGap })).toEqual({ first: last, last })
    const none = layoutOf(1000, 0, DESKTOP_CELL)
    expect(visibleRows(none, { top: 0, bottom: 500, rowGap })).toEqual({ first: 0, last: 0 })
  })
})

describe('the keys', () => {
  // 4 columns, 10 cells: 0-3, 4-7, 8-9.
  const grid = { columns: 4, count: 10, pageRows: 2, goesToCorner: false }

  it.each([
    ['ArrowRight', 0, 1],
    ['ArrowRight', 3, 4],
    ['ArrowRight', 9, 9],
    ['ArrowLeft', 4, 3],
    ['ArrowLeft', 0, 0],
    ['ArrowDown', 1, 5],
    ['ArrowDown', 5, 9],
    ['ArrowDown', 6, 6],
    ['ArrowUp', 5, 1],
    ['ArrowUp', 2, 2],
    ['Home', 6, 4],
    ['End', 4, 7],
    ['End', 8, 9],
    ['PageDown', 1, 9],
    ['PageDown', 3, 9],
    ['PageUp', 9, 1],
    ['PageUp', 5, 1],
    ['a', 5, 5],
  ])('%s from %j leads to %j', (key, from, to) => {
    expect(nextCell(key, from, grid)).toBe(to)
  })

  it('Home and End with Ctrl move to the corners', () => {
    expect(nextCell('Home', 6, { ...grid, goesToCorner: true })).toBe(0)
    expect(nextCell('End', 6, { ...grid, goesToCorner: true })).toBe(9)
  })

  it('never move out of the grid', () => {
    const keys = ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Home', 'End', 'PageUp', 'PageDown', 'x']
    const grids = fc.record({
      columns: fc.integer({ min: 1, max: 12 }),
      count: fc.integer({ min: 1, max: 200 }),
      pageRows: fc.integer({ min: 1, max: 10 }),
      goesToCorner: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.constantFrom(...keys), fc.nat(), grids, (key, seed, drawn) => {
        const to = nextCell(key, seed % drawn.count, drawn)
        expect(to).toBeGreaterThanOrEqual(0)
        expect(to).toBeLessThan(drawn.count)
      }),
    )
  })
})
