/** What a gateway begins with: its log, its end, and its database, which is made ready while the rest still loads. */
import { mkdirSync, realpathSync } from 'node:fs'
import type { Config } from './config.ts'
import { type Embedded, startEmbedded } from './db/embedded.ts'
import { migrate } from './db/migrate.ts'
import { createEnding, type Ending } from './kit/ending.ts'
import { type Lock, tryLock } from './kit/lock.ts'
import { createLog, type Log } from './kit/log.ts'

export type Beginning = {
  log: Log
  ending: Ending
  /** Rejects with a readable reason; what was begun is ended by `ending`. */
  database: Promise<ReadyDatabase>
}

export type ReadyDatabase = {
  /** Address of the migrated database. */
  url: string
  /** Resolves when it has ended and must not have. */
  died: Promise<string>
}

export function begin(config: Config): Beginning {
  const log = createLog({ level: config.logLevel, pretty: config.logPretty })
  const ending = createEnding(log)
  const database = readyDatabase(config, log, ending)
  // It may fail before anybody waits for it, and must not end the process then.
  database.catch(() => {})
  return { log, ending, database }
}

async function readyDatabase(config: Config, log: Log, ending: Ending): Promise<ReadyDatabase> {
  const embedded = config.databaseUrl === undefined ? await ownDatabase(config, log, ending) : undefined
  const url = embedded?.url ?? config.databaseUrl ?? ''
  await migrate({ url })
  const never = Promise.withResolvers<string>().promise
  return { url, died: embedded?.died.then(() => 'the embedded PostgreSQL ended') ?? never }
}

/** The folder's lock comes first: two gateways must never share a database of their own. */
async function ownDatabase(config: Config, log: Log, ending: Ending): Promise<Embedded> {
  mkdirSync(config.dataDir, { recursive: true })
  const lock: Lock | undefined = await tryLock(`gateway ${realpathSync(config.dataDir)}`)
  if (lock === undefined) {
    throw new Error(`Another gateway is running on the data folder ${config.dataDir}. Stop it first.`)
  }
  ending.add('folder', 'folder lock', () => lock.release())
  const embedded = await startEmbedded({ dataDir: config.dataDir, log })
  ending.add('database', 'embedded PostgreSQL', () => embedded.stop())
  return embedded
}
