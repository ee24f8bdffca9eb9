/** Results of the long runs, kept beside the proofs: what was run, on which commit, and what it found. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Refusal } from './proof.ts'

const FOLDER = 'proofs/results'

/** The commit of a clean tree. Refuses any other: nobody could run a result again that names no commit. */
export function cleanCommit(root: string): string {
  const changes = tryGit(root, 'status', '--porcelain')
  if (changes === undefined) throw new Refusal('--keep needs a git repository: a result names its commit')
  if (changes !== '') {
    throw new Refusal(
      `--keep needs a clean git tree: a result names its commit. Commit these first:\n${changes}`,
    )
  }
  return git(root, 'rev-parse', 'HEAD')
}

/** The commit, with a plus when the sources differ from it; 'unknown' outside a repository. */
export function commitOf(root: string): string {
  const changes = tryGit(root, 'status', '--porcelain')
  if (changes === undefined) return 'unknown'
  return `${git(root, 'rev-parse', 'HEAD')}${changes === '' ? '' : '+'}`
}

export type Kept = { root: string; name: string; commit: string; content: Record<string, unknown> }

/** Writes `proofs/results/{name}.json`. Returns its path from the root. */
export function keepResult({ root, name, commit, content }: Kept): string {
  const file = `${FOLDER}/${name}.json`
  mkdirSync(join(root, FOLDER), { recursive: true })
  const head = { proof: name, commit, at: new Date().toISOString(), node: process.version }
  writeFileSync(join(root, file), `${JSON.stringify({ ...head, ...content }, null, 2)}\n`)
  return file
}

const git = (root: string, ...args: string[]): string =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trimEnd()

function tryGit(root: string, ...args: string[]): string | undefined {
  try {
    return git(root, ...args)
  } catch {
    return undefined
  }
}
