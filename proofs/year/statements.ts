/**
 * Finds the functions that query a growing table, and the functions that ran. With these lists, the proof can check that
 * it covers every query that runs without a person.
 */
import { Session } from 'node:inspector/promises'
import { setFlagsFromString } from 'node:v8'
import { readSource } from '../../scripts/source-tree.ts'

/** A file and a function in it, such as `gateway/trades/store.ts loadTrade`. */
type Place = string

/** The name that `readSource` gives to a function without one. */
const UNNAMED = 'a function'

/** A table's name in quotes is an argument to Kysely; other names are part of SQL. */
const namesOf = (tables: readonly string[]): RegExp => {
  const names = tables.join('|')
  return new RegExp(
    `['"\`](?:${names})(?: as \\w+)?['"\`]|\\b(?:from|join|into|update|only)\\s+(?:${names})\\b`,
    'i',
  )
}

/** Returns the functions in a file that query one of the tables. */
export function functionsThatQuery(file: string, text: string, tables: readonly string[]): Place[] {
  const { functions, queries } = readSource(file, text)
  const lines = text.split('\n')
  const names = namesOf(tables)
  const found = queries.flatMap((line) => {
    const enclosing = functions.filter(
      ({ isCallback, name, line: first, lines: count }) =>
        !isCallback && name !== UNNAMED && first <= line && line < first + count,
    )
    // The innermost function begins last.
    const innermost = enclosing.toSorted((a, b) => a.line - b.line).at(-1)
    if (innermost === undefined) return []
    const body = lines.slice(innermost.line - 1, innermost.line - 1 + innermost.lines).join('\n')
    return names.test(body) ? [`${file} ${innermost.name}`] : []
  })
  return [...new Set(found)]
}

/** Compilers of V8 that inline functions. The calls of an inlined function are not counted. */
const UNCOUNTED = ['opt', 'maglev']

/**
 * Runs the steps one after the other, and resolves to the functions below `root` that ran meanwhile. They are
 * collected after every step, because the engine may forget the counts of functions that nothing refers to.
 */
export async function functionsThatRan(
  root: string,
  steps: readonly (() => Promise<void>)[],
): Promise<Set<Place>> {
  const session = new Session()
  session.connect()
  for (const compiler of UNCOUNTED) setFlagsFromString(`--no-${compiler}`)
  try {
    await session.post('Profiler.enable')
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
    const ranPlaces = new Set<Place>()
    for (const step of steps) {
      await step()
      for (const place of await functionsSince(session, root)) ranPlaces.add(place)
    }
    return ranPlaces
  } finally {
    await session.post('Profiler.stopPreciseCoverage')
    session.disconnect()
    for (const compiler of UNCOUNTED) setFlagsFromString(`--${compiler}`)
  }
}

/** Returns the functions that ran since the last call. */
async function functionsSince(session: Session, root: string): Promise<Place[]> {
  const { result } = await session.post('Profiler.takePreciseCoverage')
  return result.flatMap(({ url, functions }) => {
    const file = url.replace(/^file:\/\//, '')
    if (!file.startsWith(`${root}/`)) return []
    const called = functions.filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0)
    return called.map(({ functionName }) => `${file.slice(root.length + 1)} ${functionName}`)
  })
}
