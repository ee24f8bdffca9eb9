import type { ReactNode } from 'react'
import { useState } from 'react'
import type { Failure } from '../api/call.ts'
import type { Rows } from './answer.ts'
import { type Cell, download, toCsv } from './csv.ts'
import { Failed, Loaded } from './parts.tsx'

export type Column<ROW> = {
  name: string
  show(row: ROW): ReactNode
  /** The column's value in a file. Without it the file leaves the column out. */
  text?(row: ROW): Cell
  isNumber?: boolean
}

type Props<ROW> = {
  /** Describes the rows to a person who cannot see the page. */
  caption: string
  columns: readonly Column<ROW>[]
  rows: readonly ROW[]
  keyOf(row: ROW): string
  empty: string
}

/** A native table; its roles are named because a narrow page shows each row as a card. `j` and `k` walk its rows. */
export function Table<ROW>({ caption, columns, rows, keyOf, empty }: Props<ROW>) {
  if (rows.length === 0) return <p className="empty">{empty}</p>
  return (
    <div className="table-frame">
      {/* biome-ignore lint/a11y/noRedundantRoles: CSS takes the roles away where rows are cards. */}
      <table role="table">
        <caption className="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ name, isNumber }) => (
              <th key={name} scope="col" className={isNumber === true ? 'number' : ''}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            // biome-ignore lint/a11y/noRedundantRoles: as above.
            <tr key={keyOf(row)} role="row" data-row tabIndex={-1}>
              {columns.map(({ name, show, isNumber }) => (
                // biome-ignore lint/a11y/noRedundantRoles: as above.
                <td key={name} role="cell" data-label={name} className={isNumber === true ? 'number' : ''}>
                  <div>{show(row)}</div>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

type ListProps<ROW> = Omit<Props<ROW>, 'rows'> & {
  rows: Rows<ROW>
  /** Every row that the filter shows, for a file. */
  all(): Promise<readonly ROW[] | Failure>
  fileName: string
}

/** A table of a list that the server pages, with its file. */
export function List<ROW>({ rows, all, fileName, ...table }: ListProps<ROW>) {
  return (
    <Loaded shown={rows.shown} again={rows.again}>
      {(data) => (
        <>
          <Table {...table} rows={data} />
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

/** A file of all rows. */
export function Export<ROW>({ columns, all, fileName }: ExportProps<ROW>) {
  const [state, setState] = useState<'idle' | 'busy' | Failure>('idle')
  const save = async (): Promise<void> => {
    setState('busy')
    const rows = await all()
    if ('kind' in rows) return setState(rows)
    const written = columns.flatMap(({ name, text }) => (text === undefined ? [] : [{ name, text }]))
    const lines = rows.map((row) => written.map(({ text }) => text(row)))
    download(`${fileName}.csv`, toCsv([written.map(({ name }) => name), ...lines]))
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
