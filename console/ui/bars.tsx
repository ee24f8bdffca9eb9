import { formatTime } from './format.ts'

const [WIDTH, HEIGHT] = [720, 90]

type Props<ROW> = {
  rows: readonly ROW[]
  /** Returns the number that the height of a row's bar shows. */
  height(row: ROW): number
  /** The highlighted part of the bar. `height` returns the number that its height shows. */
  highlight: { height(row: ROW): number; tone: 'good' | 'bad' }
  /** Columns of the table, which include the two numbers of the bar. */
  columns: readonly (readonly [name: string, numberOf: (row: ROW) => number])[]
}

/** A bar for each hour, and a table of the same numbers below. */
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
      <svg
        className="bar-chart"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        {rows.map((row, index) => bar(height(row), index, 'bar'))}
        {rows.map((row, index) => bar(highlight.height(row), index, `bar-${highlight.tone}`))}
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
                {columns.map(([name, numberOf]) => (
                  <td key={name}>{numberOf(row)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </>
  )
}
