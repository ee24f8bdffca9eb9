import type { Config } from '../gateway/config.ts'
import type { OpenDatabase } from '../gateway/startup.ts'
import { lockDataFolder } from './data-folder.ts'
import { startEmbedded } from './embedded.ts'

/** Opens a PostgreSQL of the gateway's own in its data folder, which no other gateway may use meanwhile. */
export function ownDatabase({ dataDir, steamSandboxUrl, publicUrl, console: served }: Config): OpenDatabase {
  const addresses = {
    steamSandboxUrl,
    publicUrl: publicUrl.href,
    console: served && { url: served.url.href, host: served.host, port: served.port },
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
