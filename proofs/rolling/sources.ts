/** The sources of an earlier commit, with the packages of its lockfile. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { judgeStatements } from '../../gateway/db/migration-rules.ts'
import { migrationFiles } from '../../gateway/db/schema-version.ts'
import { Refusal } from '../proof.ts'

const ROOT = join(import.meta.dirname, '../..')
const QUIET = ['--no-save', '--ignore-scripts', '--no-audit', '--no-fund']
const MAIN = 'gateway/main.ts'
const MIGRATIONS = 'gateway/db/migrations'

export type Sources = {
  /** Path of the gateway's main file, from the root of this tree. */
  main: string
  /** The folder of the migrations. */
  migrations: string
}

/** Passes the sources of `commit` to `work`; those of this tree if there is no `commit`. */
export async function sourcesOf<T>(
  commit: string | undefined,
  work: (sources: Sources) => Promise<T>,
): Promise<T> {
  if (commit === undefined) return work({ main: MAIN, migrations: join(ROOT, MIGRATIONS) })
  const run = promisify(execFile)
  const folder = mkdtempSync(join(tmpdir(), 'tradetill-from-'))
  try {
    const archive = join(folder, 'sources.tar')
    await run('git', ['archive', '--output', archive, commit], { cwd: ROOT }).catch(() => {
      throw new Refusal(`There is no commit ${commit} in this repository`)
    })
    await run('tar', ['-xf', archive, '-C', folder])
    const migrations = join(folder, MIGRATIONS)
    const obstacle = obstacleFor(readdirSync(migrations))
    if (obstacle !== undefined)
      throw new Refusal(`The gateways of ${commit} cannot keep running: ${obstacle}`)
    // Installs only what a gateway loads. Not `npm ci`, which refuses a lockfile that lacks the optional packages of
    // other platforms.
    await run('npm', ['install', '--omit=dev', '--omit=optional', ...QUIET], { cwd: folder })
    return await work({ main: join(relative(ROOT, folder), MAIN), migrations })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Why gateways that know only these migrations cannot run alongside those of this tree; undefined if they can. */
export function obstacleFor(known: readonly string[]): string | undefined {
  for (const { name, sql } of migrationFiles()) {
    if (known.includes(name)) continue
    const removal = judgeStatements(sql).find(({ takesAway }) => takesAway !== undefined)
    if (removal !== undefined)
      return `${name} ${removal.takesAway}, so they must be stopped for this upgrade (docs/upgrading.md)`
  }
  return undefined
}
