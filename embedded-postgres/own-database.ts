import { mkdirSync, realpathSync } from 'node:fs'
import type { Config } from '../gateway/config.ts'
import { tryLock } from '../gateway/kit/lock.ts'
import type { OpenDatabase } from '../gateway/startup.ts'
import { startEmbedded } from './embedded.ts'

/** Locks the folder first, because two gateways must never share an embedded database. */
export function ownDatabase({ dataDir, steamSandboxUrl }: Config): OpenDatabase {
  return async ({ log, shutdown }) => {
    mkdirSync(dataDir, { recursive: true })
    const lock = await tryLock(`gateway ${realpathSync(dataDir)}`)
    if (lock === undefined) {
      throw new Error(`Another gateway is running on the data folder ${dataDir}. Stop it first.`)
    }
    shutdown.add('folder', 'folder lock', () => lock.release())
    const embedded = await startEmbedded({ dataDir, log, steamSandboxUrl })
    shutdown.add('database', 'embedded PostgreSQL', () => embedded.stop())
    return {
      url: embedded.appUrl,
      ownerUrl: embedded.url,
      died: embedded.died.then(() => 'the embedded PostgreSQL ended'),
    }
  }
}
