/** Results of the long runs, kept beside the proofs: what was run, on which commit, and what it found. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const FOLDER = join(import.meta.dirname, 'results')

/** Writes `results/{name}.json` and tells where. */
export function writeResult(name: string, result: Record<string, unknown>): void {
  mkdirSync(FOLDER, { recursive: true })
  const file = join(FOLDER, `${name}.json`)
  const head = { proof: name, commit: commitOf(), at: new Date().toISOString(), node: process.version }
  writeFileSync(file, `${JSON.stringify({ ...head, ...result }, null, 2)}\n`)
  console.log(`written to proofs/results/${name}.json`)
}

/** The commit, with a plus when the sources differ from it. */
function commitOf(): string {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim()
  const isChanged = git('status', '--porcelain', '--untracked-files=no') !== ''
  return `${git('rev-parse', 'HEAD')}${isChanged ? '+' : ''}`
}
