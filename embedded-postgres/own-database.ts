import type { Config } from '../gateway/config.ts'
import type { OpenDatabase } from '../gateway/startup.ts'
import { lockDataFolder } from './data-folder.ts'
import { startEmbedded } from './embedded.ts'

export function ownDatabase({ dataDir, steamSandboxUrl }: Config): OpenDatabase {
  return async ({ log, shutdown }) => {
    const { lock } = await lockDataFolder(dataDir)
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
