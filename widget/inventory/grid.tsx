import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react'
import type { Currency } from '../../contract/money.ts'
import type { Item } from '../../contract/widget-api.ts'
import { isSelectAll, itemForStep, type PickStep, stepOfKey } from '../flow/stacks.ts'
import { useNarrow } from '../ui/hooks.ts'
import { Card } from './card.tsx'
import { cellSizeOf, type Layout, layoutOf, nextCell, type Room } from './geometry.ts'
import { useVisibleRows, useWidth } from './room.ts'
import { useStandTexts } from './texts.ts'
import type { Asking } from './why-price.tsx'

type Props = {
  /** Where the items will be, if this was measured while they loaded. */
  room: Room | null
  /** The first item of each card. */
  items: readonly Item[]
  /** The asset ids behind a card, by the id of its item. */
  members: ReadonlyMap<string, readonly string[]>
  selection: readonly string[]
  currency: Currency
  onToggle(id: string): void
  onAdd(ids: readonly string[]): void
  asking: Asking
  /** The id of the element that describes the keys. */
  keysId: string
}

const NAVIGATION = ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Home', 'End', 'PageUp', 'PageDown']
/** How many rows Page Up and Page Down move. */
const PAGE_ROWS = 3

/**
 * The inventory as a grid of the ARIA Authoring Practices Guide: one tab stop, arrows move, Space picks, + and - pick
 * more or fewer of a stack, Shift picks a range, Ctrl+A all shown items, and ? explains the price. Only rows in or near
 * view exist.
 */
export function Grid({ room, items, members, selection, currency, asking, keysId, ...picking }: Props) {
  const { texts } = useStandTexts()
  const isNarrow = useNarrow()
  const closing = useClosingPress()
  const element = useRef<HTMLDivElement>(null)
  const width = useWidth(element, room)
  const size = cellSizeOf(width, isNarrow)
  const layout = useMemo(() => layoutOf(width, items.length, size), [width, items.length, size])
  const rows = useVisibleRows(element, { layout, rowGap: size.gap, room })
  const [active, setActive] = useState(0)
  const current = Math.min(active, Math.max(items.length - 1, 0))
  const picked = useMemo(() => new Set(selection), [selection])
  const stride = layout.rowHeight + size.gap
  const presses = usePresses({ items, members, current, picked, ...picking })
  useQuestionInSight(asking, items, { rows, columns: layout.columns })
  const onKeyDown = useKeys(
    { element, layout, count: items.length, stride, current, setActive },
    {
      press: (isRange) => presses.press(current, isRange),
      step: (by) => presses.step(current, by),
      extend: presses.extend,
      forgetAnchor: presses.forgetAnchor,
      all: () => presses.take(0, items.length - 1),
      ask: () =>
        element.current?.querySelector<HTMLElement>(`[data-index="${current}"] [data-part=why]`)?.click(),
    },
  )

  const shownRows = Array.from({ length: rows.last - rows.first + 1 }, (_, offset) => rows.first + offset)
  return (
    // biome-ignore lint/a11y/useSemanticElements: a table cannot be laid out by geometry
    <div
      ref={element}
      className="grid"
      role="grid"
      tabIndex={-1}
      aria-label={texts.inventory}
      aria-describedby={keysId}
      aria-multiselectable="true"
      aria-rowcount={layout.rows}
      aria-colcount={layout.columns}
      style={{ height: Math.max(0, layout.rows * stride - size.gap) }}
      onKeyDown={onKeyDown}
      onPointerDown={closing.begin}
      onClick={({ target, shiftKey }) => {
        const index = indexOf(target)
        const part = partOf(target)
        if ((closing.end() && part !== 'why') || index === undefined) return
        setActive(index)
        if (part === 'why') asking.onAsk(items[index]?.id ?? '')
        else presses.pressPart(part, index, shiftKey)
        // The button disappears once nothing of its stack is picked.
        if (part === 'fewer') focusCell(element.current, index)
      }}
    >
      {shownRows.map((row) => (
        <Row
          key={row}
          row={row}
          cells={items.slice(row * layout.columns, (row + 1) * layout.columns)}
          {...{ layout, currency, members, picked, current, gap: size.gap, whyId: asking.whyId }}
        />
      ))}
    </div>
  )
}

/** A press that closes a popover picks nothing. `end` returns true for such a press. */
function useClosingPress() {
  const isClosing = useRef(false)
  return {
    begin: (): void => {
      isClosing.current = document.querySelector(':popover-open') !== null
    },
    // Resets `isClosing`, because a screen reader's press has no pointer, so `begin` does not run before it.
    end: (): boolean => {
      const { current } = isClosing
      isClosing.current = false
      return current
    },
  }
}

type RowProps = {
  row: number
  cells: readonly Item[]
  layout: Layout
  gap: number
  currency: Currency
  members: Props['members']
  picked: ReadonlySet<string>
  /** The cell that is the tab stop. */
  current: number
  whyId: string
}

function Row({ row, cells, layout, gap, currency, members, picked, current, whyId }: RowProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a table cannot be laid out by geometry
    // biome-ignore lint/a11y/useFocusableInteractive: the cells take the focus
    <div
      role="row"
      className="grid-row"
      aria-rowindex={row + 1}
      style={{
        transform: `translateY(${row * (layout.rowHeight + gap)}px)`,
        height: layout.rowHeight,
        columnGap: gap,
        paddingInline: layout.side,
      }}
    >
      {cells.map((item, column) => {
        const index = row * layout.columns + column
        const ids = members.get(item.id) ?? []
        return (
          <Card
            key={item.id}
            item={item}
            index={index}
            width={layout.cell}
            column={column}
            currency={currency}
            count={ids.length}
            pickedCount={ids.reduce((sum, id) => sum + Number(picked.has(id)), 0)}
            isTabStop={index === current}
            whyId={whyId}
          />
        )
      })}
    </div>
  )
}

/** Closes the explanation of a price when a scroll or a search removes its card. */
function useQuestionInSight(
  { questioned, onGone }: Asking,
  items: readonly Item[],
  { rows, columns }: { rows: { first: number; last: number }; columns: number },
): void {
  const index = useMemo(
    () => (questioned === null ? -1 : items.findIndex(({ id }) => id === questioned)),
    [items, questioned],
  )
  const row = Math.floor(index / columns)
  const isGone = questioned !== null && (row < rows.first || row > rows.last)
  useEffect(() => {
    if (isGone) onGone()
  })
}

type Presses = Pick<Props, 'items' | 'members' | 'onToggle' | 'onAdd'> & {
  current: number
  picked: ReadonlySet<string>
}

function usePresses({ items, members, current, picked, onToggle, onAdd }: Presses) {
  const idsAt = (index: number) => members.get(items[index]?.id ?? '') ?? []
  /** The start of a range: the cell pressed last, or the one where Shift was first pressed. */
  const anchor = useRef<{ items: readonly Item[]; index: number } | null>(null)
  const take = (first: number, last: number): void =>
    onAdd(items.slice(first, last + 1).flatMap((_, offset) => idsAt(first + offset)))
  const extend = (to: number): void => {
    // A search or a new order changes which items lie between two cells. The range then starts at the focused one.
    const from = anchor.current?.items === items ? anchor.current.index : current
    anchor.current = { items, index: from }
    take(Math.min(from, to), Math.max(from, to))
  }
  const step = (index: number, by: PickStep): void => {
    anchor.current = { items, index }
    const id = itemForStep(idsAt(index), picked, by)
    if (id !== undefined) onToggle(id)
  }
  const press = (index: number, isRange: boolean): void => {
    if (isRange) extend(index)
    else step(index, 'toggle')
  }
  const forgetAnchor = (): void => {
    anchor.current = null
  }
  const pressPart = (pressed: Exclude<Part, 'why'>, index: number, isRange: boolean): void => {
    if (pressed === 'card') press(index, isRange)
    else if (pressed === 'all') take(index, index)
    else step(index, pressed)
  }
  return { press, step, pressPart, take, extend, forgetAnchor }
}

/** `why`: the ? button. `fewer`, `all`, `more`: the buttons of a stack. `card`: any other place. */
type Part = 'card' | 'why' | 'all' | 'fewer' | 'more'

function partOf(target: EventTarget): Part {
  const part =
    target instanceof Element ? target.closest<HTMLElement>('[data-part]')?.dataset.part : undefined
  return PARTS.find((each) => each === part) ?? 'card'
}

const PARTS = ['why', 'all', 'fewer', 'more'] as const

function indexOf(target: EventTarget): number | undefined {
  const cell = target instanceof Element ? target.closest<HTMLElement>('[data-index]') : null
  return cell === null ? undefined : Number(cell.dataset.index)
}

type Keys = {
  element: React.RefObject<HTMLDivElement | null>
  layout: Layout
  count: number
  stride: number
  current: number
  setActive(index: number): void
}

type KeyActions = {
  press(isRange: boolean): void
  /** Picks one more or one fewer of the stack. */
  step(by: PickStep): void
  /** Picks up to this cell. */
  extend(to: number): void
  /** Lets the next range start at the focused cell. */
  forgetAnchor(): void
  all(): void
  ask(): void
}

/** Arrows move the one tab stop; Space and Enter press its cell. */
function useKeys({ element, layout, count, stride, current, setActive }: Keys, actions: KeyActions) {
  return (event: KeyboardEvent): void => {
    if (event.key === ' ' || event.key === 'Enter') {
      event.preventDefault()
      // A key that is held down would pick the item and put it back in turn.
      if (!event.repeat) actions.press(event.shiftKey)
    }
    if (event.key === '?') actions.ask()
    const step = stepOfKey(event)
    if (step !== undefined) actions.step(step)
    if (isSelectAll(event)) {
      event.preventDefault()
      actions.all()
    }
    // With Alt, the browser goes back, forward or to its start page.
    if (event.altKey || !NAVIGATION.includes(event.key)) return
    event.preventDefault()
    const grid = { columns: layout.columns, count, pageRows: PAGE_ROWS, goesToCorner: event.ctrlKey }
    const nextIndex = nextCell(event.key, current, grid)
    scrollToRow(element.current, Math.floor(nextIndex / layout.columns) * stride, layout.rowHeight)
    if (event.shiftKey) actions.extend(nextIndex)
    else actions.forgetAnchor()
    setActive(nextIndex)
    focusCell(element.current, nextIndex)
  }
}

/**
 * Focuses a cell. It may not exist before it is in view, so this tries again in up to `tries` more frames. A focus that
 * has moved elsewhere stays there.
 */
function focusCell(grid: HTMLElement | null, index: number, tries = 10): void {
  requestAnimationFrame(() => {
    const focused = document.activeElement
    // The focus moves to the body when the focused cell is removed by scrolling.
    if (focused !== document.body && grid?.contains(focused) !== true) return
    const cell = grid?.querySelector<HTMLElement>(`[data-index="${index}"]`)
    if (cell !== null && cell !== undefined) cell.focus()
    else if (tries > 0) focusCell(grid, index, tries - 1)
  })
}

/** Space kept above and below a row focused by the keyboard, in pixels. */
const MARGIN = 110

function scrollToRow(grid: HTMLElement | null, top: number, height: number): void {
  if (grid === null) return
  const y = grid.getBoundingClientRect().top + top
  if (y < MARGIN) window.scrollBy(0, y - MARGIN)
  else if (y + height > window.innerHeight - MARGIN)
    window.scrollBy(0, y + height - window.innerHeight + MARGIN)
}
