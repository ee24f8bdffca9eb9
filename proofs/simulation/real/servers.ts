/** PostgreSQL for simulated seeds. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { startEmbedded } from '../../../embedded-postgres/embedded.ts'
import { migrate } from '../../../gateway/db/migrate.ts'
import { createLog } from '../../../gateway/kit/log.ts'

export type Servers = { urls: string[]; close(): Promise<void> }

/**
 * Servers with a migrated database each. Seeds never share one: what a transaction sees of the log of events depends
 * on the oldest transaction of its whole server, so a neighbour would change what a seed does.
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
  // As root, PostgreSQL runs as another account and must be able to pass.
  chmodSync(dataDir, 0o711)
  const embedded = await startEmbedded({ dataDir, log: createLog({ level: 'error' }), fsync: false })
  await migrate({ url: embedded.url })
  await leaveAlone(embedded.url)
  return {
    url: embedded.url,
    close: async () => {
      await embedded.stop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

/** Work that the server starts at times of its own would change plans and what a transaction sees. */
async function leaveAlone(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('alter system set autovacuum = off')
  await client.query('select pg_reload_conf()')
  await client.end()
}
