/** The first parts of a gateway's process: its log, its shutdown, and its database, prepared while other code loads. */
import type { Config } from './config.ts'
import { migrate } from './db/migrate.ts'
import { createLog, type Log } from './kit/log.ts'
import { createShutdown, type Shutdown } from './kit/shutdown.ts'

export type Startup = {
  log: Log
  shutdown: Shutdown
  /** Rejects with a readable reason. */
  database: Promise<ReadyDatabase>
}

export type ReadyDatabase = {
  /** Address of the migrated database. */
  url: string
  /** Resolves if it ends before it is stopped. */
  died: Promise<string>
}

/** Finds or starts the database. It adds to `shutdown` how its parts are stopped. */
export type OpenDatabase = (parts: Pick<Startup, 'log' | 'shutdown'>) => Promise<{
  url: string
  /** Resolves to the reason when the database has ended and must not have. */
  died?: Promise<string>
}>

export function startUp(config: Config, open: OpenDatabase = () => givenDatabase(config)): Startup {
  const log = createLog({ level: config.logLevel, pretty: config.logPretty })
  const shutdown = createShutdown(log)
  const database = readyDatabase(open, log, shutdown)
  // It may fail before anything awaits it. Without this, Node would end the process.
  database.catch(() => {})
  return { log, shutdown, database }
}

async function givenDatabase({ databaseUrl }: Config): Promise<{ url: string }> {
  if (databaseUrl !== undefined) return { url: databaseUrl }
  throw new Error('DATABASE_URL is not set. `npm start` brings a PostgreSQL of its own in sandbox mode.')
}

async function readyDatabase(open: OpenDatabase, log: Log, shutdown: Shutdown): Promise<ReadyDatabase> {
  const { url, died } = await open({ log, shutdown })
  await migrate({ url })
  return { url, died: died ?? Promise.withResolvers<string>().promise }
}
