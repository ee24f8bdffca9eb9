import type { Config } from '../gateway/config.ts'
import type { OpenDatabase } from '../gateway/startup.ts'
import { lockDataFolder } from './data-folder.ts'
import { startEmbedded } from './embedded.ts'

export function ownDatabase({ dataDir, steamSandboxUrl, publicUrl, console: place }: Config): OpenDatabase {
  const addresses = {
    steamSandboxUrl,
    publicUrl: publicUrl.href,
    console: place && { url: place.url.href, host: place.host, port: place.port },
  }
  return async ({ log, shutdown }) => {
    const { lock } = await lockDataFolder(dataDir)
    shutdown.add('folder', 'folder lock', () => lock.release())
    const embedded = await startEmbedded({ dataDir, log, addresses })
    shutdown.add('database', 'embedded PostgreSQL', () => embedded.stop())
    return {
      url: embedded.appUrl,
      ownerUrl: embedded.url,
      died: embedded.died.then(() => 'the embedded PostgreSQL ended'),
    }
  }
}
