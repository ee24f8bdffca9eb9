import type { Config } from '../gateway/config.ts'
import type { OpenDatabase } from '../gateway/startup.ts'
import { lockDataFolder } from './data-folder.ts'
import { startEmbedded } from './embedded.ts'

/**
 * Starts the gateway's own PostgreSQL in its data folder. A lock keeps other gateways out of the folder while the
 * gateway runs.
 */
export function ownDatabase({
  dataDir,
  steamSandboxUrl,
  publicUrl,
  console: consoleConfig,
}: Config): OpenDatabase {
  const addresses = {
    steamSandboxUrl,
    publicUrl: publicUrl.href,
    console: consoleConfig && {
      url: consoleConfig.url.href,
      host: consoleConfig.host,
      port: consoleConfig.port,
    },
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
