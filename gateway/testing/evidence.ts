/** The evidence of a failed test: pictures of its pages, and the output of its processes and loggers. */
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')
/** `npm test` removes this folder at its start. */
export const FAILURES = join(ROOT, '.data/test-failures')
const MOST_NAME_CHARACTERS = 60

type Piece = { file: string; read(): Promise<string | Buffer> | string | Buffer }

const pieces = new Set<Piece>()

/** Writes the result of `read` into `file` if the running test fails. Returns a function that withdraws this piece. */
export function offerEvidence(file: string, read: Piece['read']): () => void {
  const piece = { file, read }
  pieces.add(piece)
  return () => pieces.delete(piece)
}

/** The folder of a failed test. `module`: the absolute path of its file; `names`: its suites and its own name. */
export function failureFolder(module: string, names: readonly string[]): string {
  const name = names.join(' > ')
  // Different names can have the same readable part.
  const suffix = createHash('sha256').update(name).digest('hex').slice(0, 6)
  const readable = name.replace(/[^\p{L}\d]+/gu, '-').slice(0, MOST_NAME_CHARACTERS)
  return join(FAILURES, relative(ROOT, module).replaceAll(/[\\/]/g, '-'), `${readable}-${suffix}`)
}

/** Writes every offered piece. If one cannot be read, writes the reason instead. */
export async function writeEvidence(folder: string): Promise<void> {
  if (pieces.size === 0) return
  mkdirSync(folder, { recursive: true })
  const counts = new Map<string, number>()
  for (const { file, read } of pieces) {
    const count = (counts.get(file) ?? 0) + 1
    counts.set(file, count)
    const name = count === 1 ? file : file.replace(/(\.\w+)?$/, `-${count}$1`)
    try {
      writeFileSync(join(folder, name), await read())
    } catch (error) {
      writeFileSync(join(folder, `${name}.missing.txt`), String(error))
    }
  }
}

/** Returns a function that withdraws every piece offered after this call. */
export function trackEvidence(): () => void {
  const before = new Set(pieces)
  return () => {
    for (const piece of pieces) if (!before.has(piece)) pieces.delete(piece)
  }
}
