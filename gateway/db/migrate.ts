/** Applies the migrations to a database, one process at a time. */
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { reasonOf } from '../kit/reason.ts'
import { ourVersion } from '../kit/version.ts'
import { KEEP_ALIVE } from './connections.ts'
import { connectFailureOf } from './fitness.ts'
import { statementsOf } from './migration-rules.ts'
import { judgeSchema, type MigrationFile, migrationFiles, readApplied } from './schema-version.ts'
import { DENIED, sqlState } from './sql-state.ts'

export type MigrateOptions = {
  folder?: string
  /** The version of the code that has these files. */
  version?: string
  /** Called before each part that may take long: the wait for another process or for a table, and each migration. */
  onProgress?: OnProgress
  /**
   * How long a statement waits for a lock, how many times a migration is tried if it gets none, and the pause between
   * tries.
   */
  locks?: { waitMs: number; tries: number; pauseMs: number }
}

type OnProgress = (message: string) => void

/** Any fixed number. The lock keeps two starting gateways from migrating at the same time. */
export const MIGRATION_LOCK = 7_203_114
const CONNECT_MS = 10_000
/** How often to ask whether another process still migrates. */
const LOCK_PAUSE_MS = 250
/** A statement that waits for a table blocks all later statements on it, so a migration waits briefly, and often. */
const LOCKS = { waitMs: 3_000, tries: 40, pauseMs: 5_000 }
/** PostgreSQL's codes for a lock timeout and a deadlock. */
const NO_LOCK_CODES = ['55P03', '40P01']

/** Migrates a database that is known to be ours. Resolves to the names applied now. */
export const migrate = ({ url, ...options }: MigrateOptions & { url: string }): Promise<string[]> =>
  withMigrationLock(url, options, (client) => applyMigrations(client, options))

/** Opens a connection, waits on it until no other process migrates, however long that takes, and runs `work` on it. */
export const withMigrationLock = <T>(
  url: string,
  { onProgress }: Pick<MigrateOptions, 'onProgress'>,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> =>
  withOwnerClient(url, async (client) => {
    await takeLock(client, onProgress)
    return work(client)
  })

/** Opens a connection and runs `work` on it, even while another process migrates. `url`: with the role that migrates. */
export async function withOwnerClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_MS, ...KEEP_ALIVE })
  // The running query reports a broken connection.
  client.on('error', () => {})
  await client.connect().catch((error: unknown) => {
    throw new Error(`The database cannot be reached: ${connectFailureOf(error)}. Check DATABASE_URL.`, {
      cause: error,
    })
  })
  try {
    // Providers set a limit that is too short for an index of a large table.
    await client.query('set statement_timeout = 0')
    return await work(client)
  } finally {
    await client.end()
  }
}

/**
 * Applies the .sql files that this database has not seen, in the order of their names, each in one transaction unless
 * it must run without one. Resolves to the names applied now. Throws, with nothing written, if a file that was applied
 * has changed since, or if this version may not run on the schema.
 */
export async function applyMigrations(client: pg.Client, options: MigrateOptions): Promise<string[]> {
  const { folder, version = ourVersion(), onProgress, locks = LOCKS } = options
  const judgement = judgeSchema(migrationFiles(folder), await readApplied(client), version)
  if (judgement.kind === 'refused') throw new Error(judgement.reason)
  const { missing } = judgement
  if (missing.length > 0) {
    await prepareTable(client).catch((error: unknown) => {
      throw failureOf('The table of migrations cannot be written', error)
    })
  }
  for (const file of missing) {
    onProgress?.(`applying ${file.name}`)
    await applyPatiently(client, file, { version, onProgress, locks })
  }
  return missing.map((file) => file.name)
}

/**
 * Waits until no other process holds the lock. The lock is then held until the connection ends. Asks again and again,
 * because a statement that waits on the server would keep the other process from building an index concurrently.
 */
async function takeLock(client: pg.Client, onProgress: OnProgress | undefined): Promise<void> {
  for (let tries = 1; !(await tryLock(client)); tries += 1) {
    if (tries === 1) onProgress?.('waiting for another process that migrates')
    await delay(LOCK_PAUSE_MS)
  }
}

async function tryLock(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [
    MIGRATION_LOCK,
  ])
  return rows[0]?.taken === true
}

async function prepareTable(client: pg.Client): Promise<void> {
  await client.query(
    'create table if not exists migration (name text primary key, sha256 text not null, applied_at timestamptz not null default now())',
  )
  await client.query('alter table migration add column if not exists oldest_version text')
}

const OWNER_ADVICE =
  'The role of DATABASE_URL may not change tables: set TRADETILL_OWNER_DATABASE_URL to the owner of the database for this start.'

function failureOf(problem: string, error: unknown): Error {
  return new Error(`${problem}: ${reasonOf(error)}${sqlState(error) === DENIED ? `. ${OWNER_ADVICE}` : ''}`, {
    cause: error,
  })
}

type ApplyOptions = { version: string; locks: typeof LOCKS; onProgress: OnProgress | undefined }

/**
 * Applies a migration. If it does not get a lock, it starts again after a pause in which other statements can run. Its
 * transaction has then changed nothing; without a transaction, it repeats the statements that already ran.
 */
async function applyPatiently(client: pg.Client, file: MigrationFile, options: ApplyOptions): Promise<void> {
  const { version, locks, onProgress } = options
  await client.query(`select set_config('lock_timeout', $1, false)`, [`${locks.waitMs}ms`])
  for (let tries = 1; ; tries += 1) {
    try {
      await (file.hasNoTransaction ? applyInSteps : applyInTransaction)(client, file, version)
      break
    } catch (error) {
      const gotNoLock = error instanceof pg.DatabaseError && NO_LOCK_CODES.includes(error.code ?? '')
      if (!gotNoLock || tries >= locks.tries) throw failureOf(`The migration ${file.name} failed`, error)
      onProgress?.(`waiting for a table that ${file.name} must lock`)
      await delay(locks.pauseMs)
    }
  }
  await client.query('reset lock_timeout')
}

async function applyInTransaction(client: pg.Client, file: MigrationFile, version: string): Promise<void> {
  try {
    await client.query('begin')
    await client.query(file.sql)
    await noteApplied(client, file, version)
    await client.query('commit')
  } catch (error) {
    // A lost connection has already rolled the transaction back.
    await client.query('rollback').catch(() => {})
    throw error
  }
}

/** Runs each statement without a transaction. After a failure they all run again, so each must be repeatable. */
async function applyInSteps(client: pg.Client, file: MigrationFile, version: string): Promise<void> {
  for (const statement of statementsOf(file.sql)) {
    await dropInvalidIndex(client, statement)
    await client.query(statement)
  }
  await noteApplied(client, file, version)
}

const CONCURRENT_INDEX = /^create\s+(?:unique\s+)?index\s+concurrently\s+if\s+not\s+exists\s+(\w+)/i

/**
 * Drops the index that the statement builds, if it is invalid. A build that was killed, or waited too long for a lock,
 * leaves such an index, which `if not exists` would keep.
 */
async function dropInvalidIndex(client: pg.Client, statement: string): Promise<void> {
  const name = CONCURRENT_INDEX.exec(statement)?.[1]
  if (name === undefined) return
  const { rows } = await client.query(
    'select from pg_index where indexrelid = to_regclass($1) and not indisvalid',
    [name],
  )
  if (rows.length > 0) await client.query(`drop index concurrently ${name}`)
}

const noteApplied = (client: pg.Client, { name, sha256, oldestVersion }: MigrationFile, version: string) =>
  client.query('insert into migration (name, sha256, oldest_version) values ($1, $2, $3)', [
    name,
    sha256,
    oldestVersion ?? version,
  ])
