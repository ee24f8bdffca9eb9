/** The first parts of a gateway: its log, its end, and its database, which is made ready while the rest still loads. */
import type { Config } from './config.ts'
import { migrate } from './db/migrate.ts'
import { createEnding, type Ending } from './kit/ending.ts'
import { createLog, type Log } from './kit/log.ts'

export type Beginning = {
  log: Log
  ending: Ending
  /** Rejects with a readable reason. */
  database: Promise<ReadyDatabase>
}

export type ReadyDatabase = {
  /** Address of the migrated database. */
  url: string
  /** Resolves when it has ended and must not have. */
  died: Promise<string>
}

/** Finds or starts the database. Ending what it started is its own part of `ending`. */
export type OpenDatabase = (parts: Pick<Beginning, 'log' | 'ending'>) => Promise<{
  url: string
  /** Resolves to the reason when the database has ended and must not have. */
  died?: Promise<string>
}>

export function begin(config: Config, open: OpenDatabase = () => givenDatabase(config)): Beginning {
  const log = createLog({ level: config.logLevel, pretty: config.logPretty })
  const ending = createEnding(log)
  const database = readyDatabase(open, log, ending)
  // It may fail before anybody waits for it, and must not end the process then.
  database.catch(() => {})
  return { log, ending, database }
}

async function givenDatabase({ databaseUrl }: Config): Promise<{ url: string }> {
  if (databaseUrl !== undefined) return { url: databaseUrl }
  throw new Error('DATABASE_URL is not set. `npm start` brings a PostgreSQL of its own in sandbox mode.')
}

async function readyDatabase(open: OpenDatabase, log: Log, ending: Ending): Promise<ReadyDatabase> {
  const { url, died } = await open({ log, ending })
  await migrate({ url })
  return { url, died: died ?? Promise.withResolvers<string>().promise }
}
