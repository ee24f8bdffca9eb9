/** Results of long runs, stored next to the proofs: the options of the run, its commit, and its findings. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { Refusal, type Result } from './proof.ts'

const FOLDER = 'proofs/results'

/** Returns the commit of a clean tree. Refuses any other, because a result without a commit cannot be reproduced. */
export function cleanCommit(root: string): string {
  const changes = tryGit(root, 'status', '--porcelain')
  if (changes === undefined)
    throw new Refusal('--keep needs a git repository, because a result names its commit.')
  if (changes !== '') {
    throw new Refusal(
      `--keep needs a clean git tree, because a result names its commit. Commit these first:\n${changes}`,
    )
  }
  return git(root, 'rev-parse', 'HEAD')
}

/** The commit, with a plus if the sources differ from it; 'unknown' outside a repository. */
export function commitOf(root: string): string {
  const changes = tryGit(root, 'status', '--porcelain')
  if (changes === undefined) return 'unknown'
  return `${git(root, 'rev-parse', 'HEAD')}${changes === '' ? '' : '+'}`
}

export type ResultToKeep = Result & { root: string; commit: string }

/** Writes `proofs/results/{name}.json`. Returns its path from the root. */
export function keepResult({ root, name, commit, content, isOneOfMany = false }: ResultToKeep): string {
  const file = `${FOLDER}/${name}.json`
  const path = join(root, FOLDER, `${name}.json`)
  mkdirSync(join(root, FOLDER), { recursive: true })
  const run = { commit, at: new Date().toISOString(), node: process.version, ...content }
  const kept = isOneOfMany ? { proof: name, runs: [...runsOf(path), run] } : { proof: name, ...run }
  writeFileSync(path, `${JSON.stringify(kept, null, 2)}\n`)
  return file
}

const runsFileSchema = z.object({ runs: z.array(z.record(z.string(), z.unknown())) })

/**
 * Reads the earlier runs. Throws for a file of another form, which must not be overwritten, because its runs took
 * hours.
 */
function runsOf(path: string): z.infer<typeof runsFileSchema>['runs'] {
  if (!existsSync(path)) return []
  return runsFileSchema.parse(JSON.parse(readFileSync(path, 'utf8'))).runs
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
