import { join } from 'node:path'
import type { Config } from './config.ts'
import type { Log } from './kit/log.ts'
import type { Shutdown } from './kit/shutdown.ts'
import type { Storage } from './storage-parts.ts'

const FOLDER = join(import.meta.dirname, '../console/dist')

type Parts = Pick<Storage, 'database' | 'clock' | 'masterKey'> & { config: Config; log: Log }

export async function serveConsole({ config, log, database, clock, masterKey }: Parts, shutdown: Shutdown) {
  const { console: consoleConfig, roles } = config
  if (consoleConfig === undefined || !(roles.has('web') || roles.has('console'))) return
  // Imported here, so a till without a console does not load its code.
  const [{ createConsole }, { createLive }, { readMark }] = await Promise.all([
    import('./console/app.ts'),
    import('./console/live.ts'),
    import('./console/mark-store.ts'),
  ])
  const { db } = database
  const { url, host, port, sandboxKey } = consoleConfig
  const pageNotifier = createLive({ log, readMark: () => readMark(db) })
  const relyingParty = { url }
  const app = await createConsole({
    folder: FOLDER,
    log,
    live: pageNotifier,
    db,
    clock,
    config: { ...config, masterKey },
    party: relyingParty,
    sandboxKey: config.mode === 'live' ? undefined : sandboxKey,
    nowMs: () => performance.now(),
  })
  shutdown.add('calls', 'console', async () => {
    await pageNotifier.stop()
    await app.close()
  })
  await app.listen({ host, port })
  log.info({ url: url.origin }, 'the console is ready')
}
