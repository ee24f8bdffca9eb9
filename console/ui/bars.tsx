import { formatTime } from './format.ts'

const [WIDTH, HEIGHT] = [720, 90]

type Props<ROW> = {
  rows: readonly ROW[]
  /** Returns the height of a row's bar. */
  height(row: ROW): number
  /** Returns the highlighted part of the bar. */
  highlight: { of(row: ROW): number; tone: 'good' | 'bad' }
  /** Columns of the table, including the two above. */
  columns: readonly (readonly [name: string, of: (row: ROW) => number])[]
}

/** Bars by hour; the table below shows the same numbers. */
export function Bars<ROW extends { at: string }>({ rows, height, highlight, columns }: Props<ROW>) {
  const highest = Math.max(1, ...rows.map(height))
  const width = WIDTH / Math.max(1, rows.length)
  const bar = (count: number, index: number, className: string) => {
    const barHeight = (count / highest) * HEIGHT
    return (
      <rect
        key={`${className}${index}`}
        className={className}
        x={index * width + 1}
        y={HEIGHT - barHeight}
        width={width - 2}
        height={barHeight}
      />
    )
  }
  return (
    <>
      <svg className="curve" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {rows.map((row, index) => bar(height(row), index, 'bar'))}
        {rows.map((row, index) => bar(highlight.of(row), index, `bar-${highlight.tone}`))}
      </svg>
      <details>
        <summary>Hour by hour, in numbers</summary>
        <table className="small-table">
          <thead>
            <tr>
              <th scope="col">From</th>
              {columns.map(([name]) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.at}>
                <th scope="row">{formatTime(row.at)}</th>
                {columns.map(([name, of]) => (
                  <td key={name}>{of(row)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </>
  )
}
