/** The sources of an earlier commit, with the packages of its own lockfile. */
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
  /** Its gateway, from the project's root. */
  main: string
  /** The folder of its migrations. */
  migrations: string
}

/** Gives `work` the sources of that commit. Without a commit they are this tree's. */
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
    if (obstacle !== undefined) throw new Refusal(`The gateways of ${commit} cannot go on: ${obstacle}`)
    // Only what a gateway loads: the lockfile leaves out packages of tools for other machines, which `npm ci` refuses.
    await run('npm', ['install', '--omit=dev', '--omit=optional', ...QUIET], { cwd: folder })
    return await work({ main: join(relative(ROOT, folder), MAIN), migrations })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Why gateways that know only these migrations cannot run beside those of this tree; undefined if they can. */
export function obstacleFor(known: readonly string[]): string | undefined {
  for (const { name, sql } of migrationFiles()) {
    if (known.includes(name)) continue
    const taken = judgeStatements(sql).find(({ takesAway }) => takesAway !== undefined)
    if (taken !== undefined)
      return `${name} ${taken.takesAway}, so this upgrade needs them stopped (docs/upgrading.md)`
  }
  return undefined
}
