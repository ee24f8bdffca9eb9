/** Draws the states of deposits and trades into the documents that show them, from the tables that the code uses. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DEPOSIT_EDGES } from '../gateway/deposits/deposit.ts'
import { EDGES } from '../gateway/trades/trade.ts'

const ROOT = join(import.meta.dirname, '..')

type Diagram = 'trade states' | 'deposit states'

/** Which diagrams each document shows. */
export const DIAGRAMS_OF: Readonly<Record<string, readonly Diagram[]>> = {
  'ARCHITECTURE.md': ['trade states', 'deposit states'],
  'docs/store-guide.md': ['deposit states'],
}

/** `first`: the initial state. */
function diagramOf(edges: Record<string, readonly string[]>, first: string): string {
  const lines = Object.entries(edges).flatMap(([from, targets]) =>
    targets.length > 0 ? targets.map((to) => `  ${from} --> ${to}`) : [`  ${from} --> [*]`],
  )
  return ['```mermaid', 'stateDiagram-v2', `  [*] --> ${first}`, ...lines, '```'].join('\n')
}

const DIAGRAMS: Record<Diagram, string> = {
  'trade states': diagramOf(EDGES, 'intended'),
  'deposit states': diagramOf(DEPOSIT_EDGES, 'created'),
}

/**
 * Returns the document's text with the current diagrams between its markers. Throws if `DIAGRAMS_OF` does not list the
 * document, or if it lacks a marker.
 */
export function withDiagrams(document: string, text: string): string {
  const names = DIAGRAMS_OF[document]
  if (names === undefined) throw new Error(`${document} has no diagrams`)
  return names.reduce((current, name) => {
    const section = new RegExp(`(<!-- ${name} -->\n)[^]*?(\n<!-- end of ${name} -->)`)
    if (!section.test(current)) throw new Error(`${document} has no place for the ${name}`)
    return current.replace(section, `$1${DIAGRAMS[name]}$2`)
  }, text)
}

if (import.meta.main) {
  for (const document of Object.keys(DIAGRAMS_OF)) {
    const path = join(ROOT, document)
    writeFileSync(path, withDiagrams(document, readFileSync(path, 'utf8')))
  }
}
