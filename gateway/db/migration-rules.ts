/** Judges how a migration's statements affect a till that is running. */

export type Lock = 'none' | 'writes' | 'all'

export type Statement = {
  text: string
  table: string | undefined
  /** Which other statements it blocks on the table: none, writes, or all. */
  lock: Lock
  /** Why a gateway of the previous version could not continue; undefined if it can. */
  takesAway: string | undefined
}

/** Splits the SQL into statements without `--` comments. Semicolons in texts and function bodies do not split. */
export function statementsOf(sql: string): string[] {
  const statements: string[] = []
  let text = ''
  for (let at = 0; at < sql.length; ) {
    const end = endOfPart(sql, at)
    const part = sql.slice(at, end)
    if (part === ';') {
      statements.push(text.trim())
      text = ''
    } else if (!part.startsWith('--')) {
      text += part
    }
    at = end
  }
  return [...statements, text.trim()].filter((statement) => statement !== '')
}

const TAG = /^\$\w*\$/

/**
 * Returns the end of the part at `at`: a comment, a text in single quotes, a body between dollar tags, or one
 * character. A doubled quote ends one text and begins the next.
 */
function endOfPart(sql: string, at: number): number {
  if (sql.startsWith('--', at)) return endAfter(sql, '\n', at)
  if (sql[at] === "'") return endAfter(sql, "'", at + 1)
  const tag = sql[at] === '$' ? TAG.exec(sql.slice(at, at + MOST_TAG_LETTERS))?.[0] : undefined
  return tag === undefined ? at + 1 : endAfter(sql, tag, at + tag.length)
}

const MOST_TAG_LETTERS = 64

function endAfter(sql: string, text: string, from: number): number {
  const foundAt = sql.indexOf(text, from)
  return foundAt === -1 ? sql.length : foundAt + text.length
}

/** Matches a statement that begins with `begin`, and contains all of `has` and none of `lacks`. */
type Form = { begin: RegExp; has?: readonly RegExp[]; lacks?: readonly RegExp[]; why: string }

const ALTER = /^alter\s+table\b/i

const TAKES_AWAY: readonly Form[] = [
  { begin: /^drop\s+(?:table|view|function)\b/i, why: 'drops what another version may read' },
  { begin: ALTER, has: [/\bdrop\s+column\b/i], why: 'drops a column' },
  { begin: ALTER, has: [/\brename\b/i], why: 'renames what another version uses' },
  {
    begin: ALTER,
    has: [/\btype\s+\w/i],
    lacks: [/\badd\s+column\b/i, /\bcheck\b/i],
    why: 'changes the type of a column',
  },
  { begin: ALTER, has: [/\bset\s+not\s+null\b/i], why: 'refuses rows that another version writes' },
  {
    begin: ALTER,
    has: [/\badd\s+column\b/i, /\bnot\s+null\b/i],
    lacks: [/\bdefault\b/i, /\bgenerated\b/i],
    why: 'adds a column that another version does not fill',
  },
  { begin: /^(?:delete\s+from|truncate)\b/i, why: 'deletes rows' },
]

const fits = (text: string, { begin, has = [], lacks = [] }: Form): boolean =>
  begin.test(text) && has.every((form) => form.test(text)) && !lacks.some((form) => form.test(text))

/** Judges each statement. A statement on a table that the same file creates blocks nothing and takes nothing away. */
export function judgeStatements(sql: string): Statement[] {
  const newTables = new Set<string>()
  return statementsOf(sql).map((text) => {
    const created = /^create\s+table\s+(?:if\s+not\s+exists\s+)?(\w+)/i.exec(text)?.[1]
    if (created !== undefined) newTables.add(created)
    const table = tableOf(text)
    const isNew = table !== undefined && newTables.has(table)
    return {
      text,
      table,
      lock: isNew ? 'none' : lockOf(text),
      takesAway: isNew ? undefined : TAKES_AWAY.find((form) => fits(text, form))?.why,
    }
  })
}

const BEGINNINGS = [
  /^create\s+table\s+(?:if\s+not\s+exists\s+)?(\w+)/i,
  /^alter\s+table\s+(?:if\s+exists\s+)?(?:only\s+)?(\w+)/i,
  /^drop\s+table\s+(?:if\s+exists\s+)?(\w+)/i,
  /^(?:insert\s+into|update|delete\s+from|truncate)\s+(\w+)/i,
]
const INDEX = /^create\s+(?:unique\s+)?index\b/i
const TRIGGER = /^(?:create|drop)\s+trigger\b/i
const DROP_INDEX = /^drop\s+index\b/i
const ON = /\bon\s+(\w+)/i

function tableOf(text: string): string | undefined {
  if (INDEX.test(text) || TRIGGER.test(text)) return ON.exec(text)?.[1]
  return BEGINNINGS.map((form) => form.exec(text)?.[1]).find((table) => table !== undefined)
}

function lockOf(text: string): Lock {
  if (INDEX.test(text)) return /\bindex\s+concurrently\b/i.test(text) ? 'none' : 'writes'
  if (TRIGGER.test(text)) return /^drop\b/i.test(text) ? 'all' : 'writes'
  if (DROP_INDEX.test(text)) return /\bindex\s+concurrently\b/i.test(text) ? 'none' : 'all'
  if (ALTER.test(text)) return /\bvalidate\s+constraint\b/i.test(text) ? 'none' : 'all'
  return /^(?:drop\s+table|truncate)\b/i.test(text) ? 'all' : 'none'
}
