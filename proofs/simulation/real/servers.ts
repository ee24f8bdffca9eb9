import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { startEmbedded } from '../../../embedded-postgres/embedded.ts'
import { migrate } from '../../../gateway/db/migrate.ts'
import { createLog } from '../../../gateway/kit/log.ts'

export type Servers = { urls: string[]; close(): Promise<void> }

/**
 * Starts servers with one migrated database each. Seeds that run at the same time must not share a server: the events
 * that a transaction sees depend on the oldest transaction of the whole server, so another seed would change the
 * result.
 */
export async function openServers(count: number): Promise<Servers> {
  const servers = await Promise.all(Array.from({ length: count }, openServer))
  return {
    urls: servers.map(({ url }) => url),
    close: async () => {
      await Promise.all(servers.map(({ close }) => close()))
    },
  }
}

async function openServer(): Promise<{ url: string; close(): Promise<void> }> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tradetill-proofs-'))
  // If this process is root, PostgreSQL runs as another account, which must be able to enter.
  chmodSync(dataDir, 0o711)
  const embedded = await startEmbedded({ dataDir, log: createLog({ level: 'error' }), fsync: false })
  await migrate({ url: embedded.url })
  await stopAutovacuum(embedded.url)
  return {
    url: embedded.url,
    close: async () => {
      await embedded.stop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

/** Switches off autovacuum, which would change plans and what a transaction sees. */
async function stopAutovacuum(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('alter system set autovacuum = off')
  await client.query('select pg_reload_conf()')
  await client.end()
}
