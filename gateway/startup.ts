/** The first parts of a gateway's process: its log, its shutdown, and its database, prepared while other code loads. */
import { mkdirSync, realpathSync } from 'node:fs'
import type { Config } from './config.ts'
import { type Embedded, startEmbedded } from './db/embedded.ts'
import { migrate } from './db/migrate.ts'
import { type Lock, tryLock } from './kit/lock.ts'
import { createLog, type Log } from './kit/log.ts'
import { createShutdown, type Shutdown } from './kit/shutdown.ts'

export type Startup = {
  log: Log
  shutdown: Shutdown
  /** Rejects with a readable reason. `shutdown` stops what was started. */
  database: Promise<ReadyDatabase>
}

export type ReadyDatabase = {
  /** Address of the migrated database. */
  url: string
  /** Resolves if it ends before it is stopped. */
  died: Promise<string>
}

export function startUp(config: Config): Startup {
  const log = createLog({ level: config.logLevel, pretty: config.logPretty })
  const shutdown = createShutdown(log)
  const database = readyDatabase(config, log, shutdown)
  // It may fail before anything awaits it. Without this, Node would end the process.
  database.catch(() => {})
  return { log, shutdown, database }
}

async function readyDatabase(config: Config, log: Log, shutdown: Shutdown): Promise<ReadyDatabase> {
  const embedded = config.databaseUrl === undefined ? await ownDatabase(config, log, shutdown) : undefined
  const url = embedded?.url ?? config.databaseUrl ?? ''
  await migrate({ url })
  const never = Promise.withResolvers<string>().promise
  return { url, died: embedded?.died.then(() => 'the embedded PostgreSQL ended') ?? never }
}

/** Takes the folder's lock first: two gateways must never run the same embedded database. */
async function ownDatabase(config: Config, log: Log, shutdown: Shutdown): Promise<Embedded> {
  mkdirSync(config.dataDir, { recursive: true })
  const lock: Lock | undefined = await tryLock(`gateway ${realpathSync(config.dataDir)}`)
  if (lock === undefined) {
    throw new Error(`Another gateway is running on the data folder ${config.dataDir}. Stop it first.`)
  }
  shutdown.add('folder', 'folder lock', () => lock.release())
  const embedded = await startEmbedded({ dataDir: config.dataDir, log })
  shutdown.add('database', 'embedded PostgreSQL', () => embedded.stop())
  return embedded
}
