import { installQueue } from '../db/boss-queue.ts'
import { runningDatabase } from '../db/connection-file.ts'
import { ownershipOf, readIdentity } from '../db/identity.ts'
import { applyMigrations, withMigrationLock, withOwnerClient } from '../db/migrate.ts'
import { judgeStatements, type Lock } from '../db/migration-rules.ts'
import { grantApp, grantVault } from '../db/roles.ts'
import { judgeSchema, type MigrationFile, migrationFiles, readApplied } from '../db/schema-version.ts'
import { createLog } from '../kit/log.ts'
import { type Answer, done, refused, type StandaloneDeps } from './operation.ts'

/** `takesAway`: why a gateway of the previous version could not continue after the statement; null if it can. */
type Step = {
  migration: string
  lock: Lock
  table: string | null
  statement: string
  takesAway: string | null
}

/** `oldestVersion`: the oldest version that may run on the schema; null if none is recorded. */
export type MigrationStatus = {
  applied: { migration: string; oldestVersion: string | null }[]
  missing: string[]
}

export type Migrated = { applied: string[] }
export type Plan = { steps: Step[] }

const NO_DATABASE = refused('unreachable', 'No gateway is running on the embedded database. Start it first.')
const MOST_CHARACTERS = 160

/** Returns the URL for the role that can change tables; undefined if the embedded database does not run. */
const ownerUrlOf = ({ config, url }: StandaloneDeps): string | undefined =>
  config.ownerDatabaseUrl ??
  (config.databaseUrl === undefined && url !== undefined ? runningDatabase(config.dataDir)?.ownerUrl : url)

type Client = Parameters<typeof readApplied>[0]

/** Returns the missing migrations, or why they must not run. */
async function missingOf(client: Client, { config }: StandaloneDeps): Promise<MigrationFile[] | string> {
  const identity = await readIdentity(client)
  const ownership = identity && ownershipOf(identity, config)
  if (ownership?.kind === 'foreign') return ownership.reason
  const judgement = judgeSchema(migrationFiles(), await readApplied(client))
  return judgement.kind === 'refused' ? judgement.reason : judgement.missing
}

export async function showMigrations(deps: StandaloneDeps): Promise<Answer<MigrationStatus>> {
  const url = ownerUrlOf(deps)
  if (url === undefined) return NO_DATABASE
  return withOwnerClient(url, async (client) => {
    const missing = await missingOf(client, deps)
    if (typeof missing === 'string') return refused('conflict', missing)
    const applied = (await readApplied(client)).map(({ name, oldestVersion }) => ({
      migration: name,
      oldestVersion,
    }))
    applied.sort((a, b) => (a.migration < b.migration ? -1 : 1))
    return done({ applied, missing: missing.map(({ name }) => name) })
  })
}

export async function planMigrations(deps: StandaloneDeps): Promise<Answer<Plan>> {
  const url = ownerUrlOf(deps)
  if (url === undefined) return NO_DATABASE
  return withOwnerClient(url, async (client) => {
    const missing = await missingOf(client, deps)
    if (typeof missing === 'string') return refused('conflict', missing)
    return done({ steps: missing.flatMap(stepsOf) })
  })
}

const stepsOf = ({ name, sql }: MigrationFile): Step[] =>
  judgeStatements(sql).map(({ text, lock, table, takesAway }) => ({
    migration: name,
    lock,
    table: table ?? null,
    statement: text.replace(/\s+/g, ' ').slice(0, MOST_CHARACTERS),
    takesAway: takesAway ?? null,
  }))

/** Runs the missing migrations, as a gateway does at its start. */
export async function runMigrations(
  deps: StandaloneDeps,
  onProgress: (message: string) => void,
): Promise<Answer<Migrated>> {
  const { config, url: appUrl } = deps
  const url = ownerUrlOf(deps)
  if (url === undefined || appUrl === undefined) return NO_DATABASE
  return withMigrationLock(url, { onProgress }, async (client) => {
    const missing = await missingOf(client, deps)
    if (typeof missing === 'string') return refused('conflict', missing)
    const applied = await applyMigrations(client, { onProgress })
    if (url !== appUrl) {
      await installQueue({ url, log: createLog({ level: config.logLevel }) })
      await grantApp(client, appUrl)
      await grantVault(client)
    }
    return done(
      { applied },
      applied.length === 0 ? 'No migration is missing.' : `Applied ${applied.join(', ')}.`,
    )
  })
}
