/** Draws the states of a deposit and of a trade into ARCHITECTURE.md, from the tables that the code uses. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DEPOSIT_EDGES } from '../gateway/deposits/deposit.ts'
import { EDGES } from '../gateway/trades/trade.ts'

const FILE = join(import.meta.dirname, '../ARCHITECTURE.md')

/** `first`: the initial state. */
function diagramOf(edges: Record<string, readonly string[]>, first: string): string {
  const lines = Object.entries(edges).flatMap(([from, targets]) =>
    targets.length > 0 ? targets.map((to) => `  ${from} --> ${to}`) : [`  ${from} --> [*]`],
  )
  return ['```mermaid', 'stateDiagram-v2', `  [*] --> ${first}`, ...lines, '```'].join('\n')
}

/** Returns the text with the current diagrams between its markers. Throws if a marker is missing. */
export function withDiagrams(text: string): string {
  const diagrams = {
    'trade states': diagramOf(EDGES, 'intended'),
    'deposit states': diagramOf(DEPOSIT_EDGES, 'created'),
  }
  return Object.entries(diagrams).reduce((current, [name, diagram]) => {
    const section = new RegExp(`(<!-- ${name} -->\n)[^]*?(\n<!-- end of ${name} -->)`)
    if (!section.test(current)) throw new Error(`ARCHITECTURE.md has no place for the ${name}`)
    return current.replace(section, `$1${diagram}$2`)
  }, text)
}

if (import.meta.main) writeFileSync(FILE, withDiagrams(readFileSync(FILE, 'utf8')))
