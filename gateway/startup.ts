/** The first parts of a gateway's process: its log, its shutdown, and its database, prepared while other code loads. */
import type pg from 'pg'
import type { Config } from './config.ts'
import { type Build, ourBuild } from './db/build.ts'
import { refuseUnfit } from './db/fitness.ts'
import {
  type Claim,
  claimDatabase,
  foreignSecretsOf,
  ownershipOf,
  readIdentity,
  recordKey,
} from './db/identity.ts'
import { applyMigrations, withMigrationLock } from './db/migrate.ts'
import { grantApp, grantVault } from './db/roles.ts'
import { createLog, type Log } from './kit/log.ts'
import { createSecretBox, fingerprintOf } from './kit/secret-box.ts'
import { createShutdown, type Shutdown } from './kit/shutdown.ts'
import { makeOwnKey } from './master-key.ts'
import { unknownSettingText } from './unknown-settings.ts'

export type Startup = {
  log: Log
  shutdown: Shutdown
  build: Build
  /** Rejects with a readable reason. */
  database: Promise<ReadyDatabase>
}

export type ReadyDatabase = {
  /** Address of the migrated database, with the role of the till. */
  url: string
  /** The master key of the database. */
  masterKey: Buffer
  /** Resolves to the reason if a database that this process started ends unexpectedly. */
  died: Promise<string>
}

/** Finds or starts the database. Registers with `shutdown` how its parts are stopped. */
export type OpenDatabase = (parts: Pick<Startup, 'log' | 'shutdown'>) => Promise<{
  url: string
  /** Address of the same database with the role that migrates; undefined if the till's own role migrates. */
  ownerUrl?: string | undefined
  /** Resolves to the reason if the database ends unexpectedly. */
  died?: Promise<string>
}>

/** The drain has its own timer, which may end a little late. */
const DRAIN_SLACK_MS = 1_000

/** Begins to prepare the database, and returns before it is ready. */
export function startUp(
  config: Config,
  open: OpenDatabase = () => configuredDatabase(config),
  say: (line: string) => void = console.log,
): Startup {
  const log = createLog({ level: config.logLevel, pretty: config.logPretty })
  const build = ourBuild()
  log.info({ ...build, mode: config.mode, node: process.versions.node }, 'the gateway was started')
  if (config.unknownSettings.length > 0) {
    log.warn({ settings: config.unknownSettings.map(unknownSettingText) }, 'unknown settings were ignored')
  }
  const shutdown = createShutdown(log, { readiness: config.drainMs + DRAIN_SLACK_MS })
  const database = prepareDatabase(config, open, { log, shutdown, say })
  // The promise may reject before anything awaits it, and Node would then end the process.
  database.catch(() => {})
  return { log, shutdown, build, database }
}

async function configuredDatabase({ databaseUrl, ownerDatabaseUrl }: Config) {
  if (databaseUrl !== undefined) return { url: databaseUrl, ownerUrl: ownerDatabaseUrl }
  throw new Error('DATABASE_URL is not set. `npm start` runs its own PostgreSQL in sandbox mode.')
}

/** Writes nothing, not even a new master key, before the database is known to match this mode and key. */
async function prepareDatabase(
  config: Config,
  open: OpenDatabase,
  { say, ...parts }: Pick<Startup, 'log' | 'shutdown'> & { say: (line: string) => void },
): Promise<ReadyDatabase> {
  // The start script (scripts/children.ts) keeps waiting while a process reports that it is busy.
  const onProgress = (message: string) => say(`gateway is busy: ${message}`)
  onProgress('opening its database')
  const { url, ownerUrl, died } = await open(parts)
  await refuseUnfit(url)
  if (ownerUrl !== undefined) await refuseUnfit(ownerUrl, 'TRADETILL_OWNER_DATABASE_URL')
  const masterKey = await withMigrationLock(ownerUrl ?? url, { onProgress }, async (client) => {
    await refuseForeign(client, config)
    await applyMigrations(client, { onProgress })
    if (ownerUrl !== undefined) {
      // Imported here, so the start of the database does not wait for the queue's code.
      const { installQueue } = await import('./db/boss-queue.ts')
      await installQueue({ url: ownerUrl, log: parts.log })
      await grantApp(client, url)
      await grantVault(client)
    }
    const key = config.masterKey ?? makeOwnKey(config.dataDir)
    const keyFingerprint = fingerprintOf(key)
    await claimDatabase(client, { mode: config.mode, keyFingerprint })
    await recordKey(client, keyFingerprint)
    return key
  })
  say('gateway has its database')
  // A database that this process did not start never reports that it has ended.
  return { url, masterKey, died: died ?? Promise.withResolvers<string>().promise }
}

async function refuseForeign(client: pg.Client, claim: Claim): Promise<void> {
  const reason = await reasonToRefuse(client, claim)
  if (reason !== undefined) throw new Error(reason)
}

async function reasonToRefuse(client: pg.Client, claim: Claim): Promise<string | undefined> {
  const identity = await readIdentity(client)
  if (identity === undefined) {
    const { masterKey, oldMasterKeys } = claim
    return foreignSecretsOf(client, masterKey && createSecretBox(masterKey, oldMasterKeys).open)
  }
  const ownership = ownershipOf(identity, claim)
  return ownership.kind === 'foreign' ? ownership.reason : undefined
}
