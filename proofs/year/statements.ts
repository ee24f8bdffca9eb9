/**
 * Finds the functions of the sources that ask something of a table that grows, and those of them that ran. So the proof leaves
 * none out that runs without a person.
 */
import { Session } from 'node:inspector/promises'
import { readSource } from '../../scripts/source-tree.ts'

/** `gateway/trades/store.ts loadTrade`. */
type Place = string

/** As the parser's reader names a function that has no name. */
const UNNAMED = 'a function'

/** A name in quotes is an argument of Kysely; the others stand in SQL. */
const namesOf = (tables: readonly string[]): RegExp => {
  const names = tables.join('|')
  return new RegExp(
    `['"\`](?:${names})(?: as \\w+)?['"\`]|\\b(?:from|join|into|update|only)\\s+(?:${names})\\b`,
    'i',
  )
}

/** The functions around the statements of a file that name one of the tables. */
export function statementsOf(file: string, text: string, tables: readonly string[]): Place[] {
  const { functions, queries } = readSource(file, text)
  const lines = text.split('\n')
  const names = namesOf(tables)
  const found = queries.flatMap((line) => {
    const around = functions.filter(
      (one) => !one.isCallback && one.name !== UNNAMED && one.line <= line && line < one.line + one.lines,
    )
    // The innermost one begins last.
    const own = around.toSorted((a, b) => a.line - b.line).at(-1)
    if (own === undefined) return []
    const body = lines.slice(own.line - 1, own.line - 1 + own.lines).join('\n')
    return names.test(body) ? [`${file} ${own.name}`] : []
  })
  return [...new Set(found)]
}

/** Runs `work`, and resolves to the named functions below `root` that ran meanwhile. */
export async function functionsIn(root: string, work: () => Promise<void>): Promise<Set<Place>> {
  const session = new Session()
  session.connect()
  try {
    await session.post('Profiler.enable')
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
    await work()
    const { result } = await session.post('Profiler.takePreciseCoverage')
    const ran = new Set<Place>()
    for (const { url, functions } of result) {
      const file = url.replace(/^file:\/\//, '')
      if (!file.startsWith(`${root}/`)) continue
      for (const { functionName, ranges } of functions)
        if ((ranges[0]?.count ?? 0) > 0) ran.add(`${file.slice(root.length + 1)} ${functionName}`)
    }
    return ran
  } finally {
    await session.post('Profiler.stopPreciseCoverage')
    session.disconnect()
  }
}
