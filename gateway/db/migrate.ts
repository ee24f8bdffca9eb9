import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'

export type MigrateOptions = { url: string; folder?: string }

const FOLDER = join(import.meta.dirname, 'migrations')
const FILE = /^\d{4}_\w+\.sql$/
/** Only version 0.1.0 has it: its 17 migrations became one. */
const FIRST_OF_0_1_0 = '0001_till.sql'
/** Any fixed number: it keeps two gateways that start together from migrating at once. */
const MIGRATION_LOCK = 7_203_114

/**
 * Applies the .sql files that this database has not seen, in the order of their names, each in one transaction.
 * Resolves to the names applied now. Throws if a file that was applied has changed since, or if the database has
 * migrations that are no files here: another version made it.
 */
export async function migrate({ url, folder = FOLDER }: MigrateOptions): Promise<string[]> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK])
    await client.query(
      'create table if not exists migration (name text primary key, sha256 text not null, applied_at timestamptz not null default now())',
    )
    const { rows } = await client.query<{ name: string; sha256: string }>(
      'select name, sha256 from migration',
    )
    const applied = new Map(rows.map((row) => [row.name, row.sha256]))
    const files = filesOf(folder)
    refuseOtherVersion([...applied.keys()].filter((name) => !files.some((file) => file.name === name)))
    const fresh = files.filter((file) => !isApplied(file, applied))
    for (const file of fresh) await apply(client, file)
    return fresh.map((file) => file.name)
  } finally {
    await client.end()
  }
}

type MigrationFile = { name: string; sql: string; sha256: string }

function filesOf(folder: string): MigrationFile[] {
  const names = readdirSync(folder).filter((name) => FILE.test(name))
  return names.sort().map((name) => {
    const sql = readFileSync(join(folder, name), 'utf8')
    return { name, sql, sha256: createHash('sha256').update(sql).digest('hex') }
  })
}

function refuseOtherVersion(unknown: string[]): void {
  if (unknown.length === 0) return
  const names = unknown.sort().join(', ')
  const remedy = unknown.includes(FIRST_OF_0_1_0)
    ? 'Version 0.1.0 made it, and no later version can upgrade it. Start with an empty database or data folder.'
    : 'A later version made it. Start that version, or restore a backup from before the upgrade.'
  throw new Error(
    `This database has migrations that this version of Tradetill does not know: ${names}. ${remedy}`,
  )
}

function isApplied(file: MigrationFile, applied: Map<string, string>): boolean {
  const sha256 = applied.get(file.name)
  if (sha256 !== undefined && sha256 !== file.sha256) {
    throw new Error(
      `The migration ${file.name} was changed after it had been applied to this database. Restore the file and write the change as a new migration.`,
    )
  }
  return sha256 !== undefined
}

async function apply(client: pg.Client, file: MigrationFile): Promise<void> {
  try {
    await client.query('begin')
    await client.query(file.sql)
    await client.query('insert into migration (name, sha256) values ($1, $2)', [file.name, file.sha256])
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw new Error(`The migration ${file.name} failed.`, { cause: error })
  }
}
