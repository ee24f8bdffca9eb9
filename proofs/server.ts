/** A PostgreSQL server of a proof's own. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbedded } from '../embedded-postgres/embedded.ts'
import { createLog } from '../gateway/kit/log.ts'

/** Gives the server's URL to `work`. The server and its data are gone when that ends. */
export async function withServer<T>(work: (url: string) => Promise<T>): Promise<T> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tradetill-proof-'))
  // As root, PostgreSQL runs as another account and must be able to pass.
  chmodSync(dataDir, 0o711)
  try {
    const embedded = await startEmbedded({ dataDir, log: createLog({ level: 'error' }), fsync: false })
    return await work(embedded.url).finally(() => embedded.stop())
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}
