import type { ReactNode } from 'react'
import { useState } from 'react'
import type { Failure } from '../api/call.ts'
import type { Rows } from './answer.ts'
import { type Cell, download, toCsv } from './csv.ts'
import { Failed, Loaded } from './parts.tsx'
import { setQuery } from './place.ts'
import { type Direction, SortChoice, SortHeader, sortRows } from './sort.tsx'

export type Column<ROW> = {
  name: string
  show(row: ROW): ReactNode
  /** The column's value in a file. A column without this function is left out of the file. */
  csvValue?(row: ROW): Cell
  /** The value by which rows are sorted: `csvValue` by default. */
  sortValue?(row: ROW): Cell
  isNumber?: boolean
}

type Props<ROW> = {
  /** Describes the rows to a person who cannot see the page. */
  caption: string
  columns: readonly Column<ROW>[]
  rows: readonly ROW[]
  keyOf(row: ROW): string
  /** The text in place of a table without rows. */
  empty: string
}

const sortValueOf = <ROW,>({ sortValue, csvValue }: Column<ROW>): ((row: ROW) => Cell) | undefined =>
  sortValue ?? csvValue

/** A table whose rows are all on the page, which can therefore sort them. */
export function Table<ROW>(props: Props<ROW>) {
  const { caption, columns, rows } = props
  const [sorted, setSorted] = useState<{ name: string; direction: Direction } | null>(null)
  if (rows.length < 2) return <PlainTable {...props} />
  const sortedColumn = columns.find(({ name }) => name === sorted?.name)
  const value = sortedColumn && sortValueOf(sortedColumn)
  const names = columns.flatMap((column) => (sortValueOf(column) === undefined ? [] : [column.name]))
  return (
    <>
      {names.length > 0 && (
        <SortChoice caption={caption} names={names} sorted={sorted} onChoose={setSorted} />
      )}
      <PlainTable
        {...props}
        rows={value === undefined || sorted === null ? rows : sortRows(rows, value, sorted.direction)}
        headerOf={({ name }) => {
          if (!names.includes(name)) return null
          const direction = sorted?.name === name ? sorted.direction : undefined
          return { direction, sort: (to) => setSorted({ name, direction: to }) }
        }}
      />
    </>
  )
}

/** Null for a column that is not sortable. */
type Header = { direction: Direction | undefined; sort(to: Direction): void } | null

type PlainProps<ROW> = Props<ROW> & { headerOf?(column: Column<ROW>): Header }

/**
 * A native table. Its roles are explicit, because a narrow page shows rows as cards, and the CSS for that removes the
 * native roles. The keys `j` and `k` move the focus between its rows.
 */
function PlainTable<ROW>({ caption, columns, rows, keyOf, empty, headerOf }: PlainProps<ROW>) {
  if (rows.length === 0) return <p className="empty">{empty}</p>
  return (
    <div className="table-frame">
      {/* biome-ignore lint/a11y/noRedundantRoles: CSS removes the roles where rows are cards. */}
      <table role="table">
        <caption className="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <SortHeader
                key={column.name}
                name={column.name}
                isNumber={column.isNumber === true}
                {...headerOf?.(column)}
              />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            // biome-ignore lint/a11y/noRedundantRoles: CSS removes the roles where rows are cards.
            <tr key={keyOf(row)} role="row" data-row tabIndex={-1}>
              {columns.map(({ name, show, isNumber }) => {
                const shown = show(row)
                return (
                  <td
                    key={name}
                    // biome-ignore lint/a11y/noRedundantRoles: CSS removes the roles where rows are cards.
                    role="cell"
                    data-label={name}
                    data-empty={shown === '—' || shown === false ? '' : undefined}
                    className={isNumber === true ? 'number' : ''}
                  >
                    <div>{shown}</div>
                  </td>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

type ListProps<ROW> = Omit<Props<ROW>, 'rows'> & {
  rows: Rows<ROW>
  /** Resolves to all rows that the filter matches, which go into the file, or to a failure. */
  all(): Promise<readonly ROW[] | Failure>
  fileName: string
  /** The server's names of the orders: for each column, one per direction. */
  orders?: Readonly<Record<string, Record<Direction, string>>>
  /** The current order, from the page's address. */
  order?: string
}

/** A table of a list that the server sorts and sends page by page, with a button that saves it as a file. */
export function List<ROW>({ rows, all, fileName, orders = {}, order, ...table }: ListProps<ROW>) {
  const headerOf = ({ name }: Column<ROW>): Header => {
    const ordersOfColumn = orders[name]
    if (ordersOfColumn === undefined) return null
    const direction =
      ordersOfColumn.ascending === order
        ? 'ascending'
        : ordersOfColumn.descending === order
          ? 'descending'
          : undefined
    return { direction, sort: (to) => setQuery({ order: ordersOfColumn[to] }) }
  }
  return (
    <Loaded shown={rows.shown} refresh={rows.refresh}>
      {(data) => (
        <>
          <PlainTable {...table} rows={data} headerOf={headerOf} />
          {rows.moreFailure !== undefined && <Failed failure={rows.moreFailure} refresh={rows.more} />}
          <div className="list-foot">
            {rows.hasMore && (
              <button
                type="button"
                className="button small"
                onClick={rows.more}
                disabled={rows.isLoadingMore}
              >
                {rows.isLoadingMore ? 'Loading…' : 'Show more'}
              </button>
            )}
            {data.length > 0 && <Export columns={table.columns} all={all} fileName={fileName} />}
          </div>
        </>
      )}
    </Loaded>
  )
}

type ExportProps<ROW> = Pick<ListProps<ROW>, 'columns' | 'all' | 'fileName'>

export function Export<ROW>({ columns, all, fileName }: ExportProps<ROW>) {
  const [state, setState] = useState<'idle' | 'busy' | Failure>('idle')
  const save = async (): Promise<void> => {
    setState('busy')
    const rows = await all()
    if ('kind' in rows) return setState(rows)
    const exportedColumns = columns.flatMap(({ name, csvValue }) =>
      csvValue === undefined ? [] : [{ name, csvValue }],
    )
    const lines = rows.map((row) => exportedColumns.map(({ csvValue }) => csvValue(row)))
    download(`${fileName}.csv`, toCsv([exportedColumns.map(({ name }) => name), ...lines]))
    setState('idle')
  }
  return (
    <>
      <button type="button" className="button small" disabled={state === 'busy'} onClick={() => void save()}>
        {state === 'busy' ? 'Collecting…' : 'Save as CSV'}
      </button>
      {typeof state === 'object' && <Failed failure={state} />}
    </>
  )
}
