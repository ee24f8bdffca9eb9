import { dirname, join, normalize } from 'node:path'
import { parseSync } from 'vite'

/** An import of one source by another, as paths from the root. */
export type Import = { from: string; to: string; isTypeOnly: boolean }

export type MeasuredFunction = {
  name: string
  line: number
  lines: number
  /** Number of positional parameters; a rest parameter counts as one. */
  parameters: number
  /** True for an argument of a call, whose parameters are decided by the callee. */
  isCallback: boolean
}

/** A regular expression. `written` is its literal; absent if `RegExp` makes the expression. */
export type Expression = { line: number; written?: { pattern: string; flags: string } }

/** `queries`: the lines on which SQL statements begin. */
export type Source = {
  imports: Import[]
  functions: MeasuredFunction[]
  queries: number[]
  expressions: Expression[]
}

type Node = { type: string; start: number; end: number; [property: string]: unknown }

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'

const FUNCTIONS = ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']
const IMPORTS = ['ImportDeclaration', 'ExportNamedDeclaration', 'ExportAllDeclaration', 'ImportExpression']

/** Reads the imports, functions, queries and regular expressions of a source. Throws if it cannot be parsed. */
export function readSource(file: string, text: string): Source {
  const { program, errors } = parseSync(file, text)
  if (errors[0] !== undefined) throw new Error(`${file}: ${errors[0].message}`)
  const lineOf = lineCounter(text)
  const source: Source = { imports: [], functions: [], queries: [], expressions: [] }
  walk(program, (node, place) => {
    if (IMPORTS.includes(node.type) || node.type === 'TSImportType') {
      const to = targetOf(file, node)
      const isTypeOnly =
        node.importKind === 'type' || node.exportKind === 'type' || node.type === 'TSImportType'
      if (to !== undefined) source.imports.push({ from: file, to, isTypeOnly })
    }
    const expression = expressionOf(node)
    if (expression !== undefined) source.expressions.push({ line: lineOf(node.start), ...expression })
    if (isQuery(node)) source.queries.push(lineOf(node.start))
    if (FUNCTIONS.includes(node.type)) {
      const line = lineOf(node.start)
      const lines = lineOf(node.end) - line + 1
      const name = nameOf(node.id) ?? place.name
      source.functions.push({
        name,
        line,
        lines,
        parameters: parametersOf(node),
        isCallback: place.isArgument,
      })
    }
  })
  return source
}

function expressionOf({ type, regex, callee }: Node): Omit<Expression, 'line'> | undefined {
  if (type === 'Literal' && isWritten(regex)) return { written: regex }
  const isConstructed = (type === 'NewExpression' || type === 'CallExpression') && nameOf(callee) === 'RegExp'
  return isConstructed ? {} : undefined
}

const isWritten = (value: unknown): value is { pattern: string; flags: string } =>
  typeof value === 'object' && value !== null && 'pattern' in value && 'flags' in value

function targetOf(file: string, { source, argument }: Node): string | undefined {
  const literal = isNode(source) ? source : argument
  if (!isNode(literal) || typeof literal.value !== 'string' || !literal.value.startsWith('.'))
    return undefined
  return normalize(join(dirname(file), literal.value)).replaceAll('\\', '/')
}

const KYSELY_VERBS = ['selectFrom', 'insertInto', 'updateTable', 'deleteFrom', 'mergeInto']
const SQL_VERBS = /^\s*(?:select|insert|update|delete|merge|with|truncate)\b/i

/** True for Kysely's builder or template, and for SQL text in a call of `query`. */
function isQuery({ type, tag, callee, arguments: values }: Node): boolean {
  if (type === 'TaggedTemplateExpression') return nameOf(tag) === 'sql'
  if (type !== 'CallExpression' || !isNode(callee)) return false
  const method = nameOf(callee.property) ?? ''
  const [first] = Array.isArray(values) ? values : []
  return KYSELY_VERBS.includes(method) || (method === 'query' && SQL_VERBS.test(textOf(first)))
}

/** Returns the beginning of a string literal or template. */
function textOf(value: unknown): string {
  if (!isNode(value)) return ''
  if (typeof value.value === 'string') return value.value
  const [first] = Array.isArray(value.quasis) ? value.quasis : []
  const raw = isNode(first) ? first.value : undefined
  return typeof raw === 'object' && raw !== null && 'raw' in raw ? String(raw.raw) : ''
}

function parametersOf({ params }: Node): number {
  const parameters = Array.isArray(params) ? params : []
  // TypeScript's `this` is not a parameter of a call.
  return parameters.filter((param) => nameOf(param) !== 'this').length
}

const nameOf = (value: unknown): string | undefined =>
  isNode(value) && typeof value.name === 'string' ? value.name : undefined

/** The name to which a node, or a node around it, is assigned, and whether the node is an argument of a call. */
type Place = { name: string; isArgument: boolean }

function walk(value: unknown, visit: (node: Node, place: Place) => void, place = NOWHERE): void {
  if (Array.isArray(value)) {
    for (const each of value) walk(each, visit, place)
    return
  }
  if (!isNode(value)) return
  visit(value, place)
  for (const [property, child] of Object.entries(value)) {
    const isArgument = property === 'arguments'
    const isValue = property === 'init' || property === 'value'
    const name = isValue ? (nameOf(value.id) ?? nameOf(value.key) ?? place.name) : place.name
    walk(child, visit, { name, isArgument })
  }
}

const NOWHERE: Place = { name: 'a function', isArgument: false }

/** Lines count from 1. */
function lineCounter(text: string): (position: number) => number {
  const ends = [...text.matchAll(/\n/g)].map(({ index }) => index)
  return (position) => {
    let [low, high] = [0, ends.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((ends[middle] ?? 0) < position) low = middle + 1
      else high = middle
    }
    return low + 1
  }
}

/** Returns the cycles of files that import each other, each sorted by name. */
export function cyclesOf(imports: readonly Import[]): string[][] {
  const targets = Map.groupBy(imports, ({ from }) => from)
  const reachable = (start: string): Set<string> => {
    const seen = new Set<string>()
    const waiting = [start]
    for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
      for (const { to } of targets.get(file) ?? []) {
        if (!seen.has(to)) waiting.push(to)
        seen.add(to)
      }
    }
    return seen
  }
  const reach = new Map([...targets.keys()].map((file) => [file, reachable(file)]))
  const cycles = new Map<string, string[]>()
  for (const [file, seen] of reach) {
    if (!seen.has(file)) continue
    const cycle = [...seen].filter((other) => reach.get(other)?.has(file)).sort()
    cycles.set(cycle.join(), cycle)
  }
  return [...cycles.values()]
}
