/** Sorted tables: buttons in the header row, and a choice on narrow pages, which have no header row. */
import type { Cell } from './csv.ts'

export type Direction = 'ascending' | 'descending'

const compare = (one: Cell, other: Cell): number => {
  if (one === other) return 0
  // Missing values come last in ascending order, and first in descending order.
  if (one === null || other === null) return one === null ? 1 : -1
  if (typeof one === 'number' && typeof other === 'number') return one - other
  return String(one).localeCompare(String(other), 'en', { numeric: true })
}

/** Sorts rows by a column. Equal rows keep their order. */
export function sortRows<ROW>(
  rows: readonly ROW[],
  value: (row: ROW) => Cell,
  direction: Direction,
): readonly ROW[] {
  const sign = direction === 'ascending' ? 1 : -1
  return rows.toSorted((one, other) => sign * compare(value(one), value(other)))
}

type HeaderProps = {
  name: string
  isNumber: boolean
  direction?: Direction | undefined
  /** Sorts the rows by this column. Absent if the column is not sortable. */
  sort?: (to: Direction) => void
}

const ARROWS = { ascending: '▲', descending: '▼' }

/** The first press sorts numbers descending and texts ascending; a second press reverses the order. */
export function SortHeader({ name, isNumber, direction, sort }: HeaderProps) {
  const className = isNumber ? 'number' : ''
  if (sort === undefined) {
    return (
      <th scope="col" className={className}>
        {name}
      </th>
    )
  }
  const first: Direction = isNumber ? 'descending' : 'ascending'
  const second: Direction = isNumber ? 'ascending' : 'descending'
  return (
    <th scope="col" className={className} aria-sort={direction ?? 'none'}>
      <button type="button" className="sort" onClick={() => sort(direction === first ? second : first)}>
        {name} <span aria-hidden="true">{direction === undefined ? '↕' : ARROWS[direction]}</span>
      </button>
    </th>
  )
}

type Sorted = { name: string; direction: Direction }

type ChoiceProps = {
  caption: string
  names: readonly string[]
  sorted: Sorted | null
  onChoose(sorted: Sorted | null): void
}

export function SortChoice({ caption, names, sorted, onChoose }: ChoiceProps) {
  return (
    <label className="filter-box sort-choice">
      Sort by
      <select
        aria-label={`Sort by: ${caption}`}
        value={sorted === null ? '' : `${sorted.name} ${sorted.direction}`}
        onChange={({ target: { value } }) => {
          const [, name = '', direction = ''] = /^(.*) (\w+)$/.exec(value) ?? []
          onChoose(direction === 'ascending' || direction === 'descending' ? { name, direction } : null)
        }}
      >
        <option value="">default order</option>
        {names.flatMap((name) =>
          (['ascending', 'descending'] as const).map((direction) => (
            <option key={name + direction} value={`${name} ${direction}`}>
              {name} {ARROWS[direction]}
            </option>
          )),
        )}
      </select>
    </label>
  )
}
