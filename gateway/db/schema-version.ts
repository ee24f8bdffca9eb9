/** Which code may run on which schema. Each migration states this, and the database records it. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import { sha256 } from '../kit/sha256.ts'
import { isOlder, ourVersion } from '../kit/version.ts'
import { statementsOf } from './migration-rules.ts'
import { PUBLISHED_CHECKSUMS } from './published-checksums.ts'

export type MigrationFile = {
  name: string
  sql: string
  /** Hex. The database records it: see `checksumOf`. */
  sha256: string
  /**
   * From the first line: the oldest version that may run on this schema. Undefined: the version that introduced the
   * schema.
   */
  oldestVersion: string | undefined
  /** Runs without a transaction, as `create index concurrently` requires. Each statement must be repeatable. */
  hasNoTransaction: boolean
}

/** A migration that was applied to the database. `oldestVersion`: null if the version that applied it recorded none. */
export type Applied = { name: string; sha256: string; oldestVersion: string | null }

/** The comments that the till reads. Like a statement, they must not change once the file is applied. */
const DIRECTIVE = /^-- (?:oldest version: \S+|without a transaction)$/gm
const FOLDER = join(import.meta.dirname, 'migrations')
const FILE = /^\d{4}_\w+\.sql$/
const WITHOUT_TRANSACTION = /^-- without a transaction$/m
const HEADER = /^-- oldest version: (\d+\.\d+\.\d+)$/m
/** Only version 0.1.0 has a migration of this name. Later versions have one file in place of its 17 migrations. */
const FIRST_OF_0_1_0 = '0001_till.sql'

/** The files in the order of their names. */
export function migrationFiles(folder: string = FOLDER): MigrationFile[] {
  const names = readdirSync(folder).filter((name) => FILE.test(name))
  return names.sort().map((name) => {
    const sql = readFileSync(join(folder, name), 'utf8')
    const [firstLine = ''] = sql.split('\n')
    return {
      name,
      sql,
      sha256: checksumOf(name, sql),
      oldestVersion: HEADER.exec(firstLine)?.[1],
      hasNoTransaction: WITHOUT_TRANSACTION.test(sql),
    }
  })
}

/**
 * The checksum of the directives and the statements, with every run of white space as one blank, so all other comments
 * can be corrected later. A migration whose whole file was recorded when it was published keeps the checksum of that
 * file while its statements are still the published ones.
 */
function checksumOf(name: string, sql: string): string {
  const statements = statementsOf(sql).map((text) => text.replaceAll(/\s+/g, ' '))
  const parts = [...(sql.match(DIRECTIVE) ?? []), ...statements]
  const checksum = sha256(parts.join(';')).toString('hex')
  const published = PUBLISHED_CHECKSUMS[name]
  return published?.statements === checksum ? published.file : checksum
}

/** Returns the applied migrations. Reads tables of older versions too, which lack the column `oldest_version`. */
export async function readApplied(client: Pick<pg.Client, 'query'>): Promise<Applied[]> {
  const { rows } = await client.query<{ is_there: boolean }>(
    `select to_regclass('migration') is not null as is_there`,
  )
  if (!rows[0]?.is_there) return []
  const applied = await client.query<{ name: string; sha256: string; oldest_version: string | null }>(
    `select name, sha256, to_jsonb(migration) ->> 'oldest_version' as oldest_version from migration`,
  )
  return applied.rows.map(({ oldest_version, ...rest }) => ({ ...rest, oldestVersion: oldest_version }))
}

export type Judgement =
  /** `missing` have not been applied. */
  { kind: 'fits'; missing: MigrationFile[] } | { kind: 'refused'; reason: string }

/** Decides whether code of `version` with these files may run on a database with these applied migrations. */
export function judgeSchema(
  files: readonly MigrationFile[],
  applied: readonly Applied[],
  version = ourVersion(),
): Judgement {
  const filesByName = new Map(files.map((file) => [file.name, file]))
  const changedMigration = applied.find(
    ({ name, sha256 }) => filesByName.has(name) && filesByName.get(name)?.sha256 !== sha256,
  )
  if (changedMigration !== undefined) {
    return refused(
      `The migration ${changedMigration.name} was changed after it had been applied to this database. Restore the file and write the change as a new migration.`,
    )
  }
  const names = new Set(applied.map(({ name }) => name))
  const missing = files.filter(({ name }) => !names.has(name))
  const unknown = applied.filter(({ name }) => !filesByName.has(name))
  const mayRun = unknown.every(
    ({ oldestVersion }) => oldestVersion !== null && !isOlder(version, oldestVersion),
  )
  if (unknown.length === 0 || (mayRun && missing.length === 0)) return { kind: 'fits', missing }
  const problem = `This database has migrations that this version of Tradetill (${version}) does not know: ${listOf(unknown)}.`
  return refused(`${problem} ${remedyOf(unknown, mayRun ? missing : [])}`)
}

const refused = (reason: string): Judgement => ({ kind: 'refused', reason })

const listOf = (migrations: readonly { name: string }[]): string =>
  migrations
    .map(({ name }) => name)
    .sort()
    .join(', ')

/** `lacking`: our migrations that the database lacks, although its oldest version would allow us to run. */
function remedyOf(unknown: readonly Applied[], lacking: readonly MigrationFile[]): string {
  if (unknown.some(({ name }) => name === FIRST_OF_0_1_0)) {
    return 'Version 0.1.0 made it, and no later version can upgrade it. Start with an empty database or data folder.'
  }
  // A later version has all of our files.
  if (lacking.length > 0) {
    return `It lacks ${listOf(lacking)}, so no later version made it. Start the version that made it, or restore a backup that this version made.`
  }
  const needed = unknown
    .flatMap(({ oldestVersion }) => oldestVersion ?? [])
    .sort((a, b) => (isOlder(a, b) ? 1 : -1))
  const which = needed[0] === undefined ? 'that version' : `version ${needed[0]} or later`
  return `A later version made it. Start ${which}, or restore a backup from before the upgrade.`
}
