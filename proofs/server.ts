/** A PostgreSQL server for one proof. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbedded } from '../embedded-postgres/embedded.ts'
import { createLog } from '../gateway/kit/log.ts'

/** Passes the server's URL to `work`, and removes the server and its data afterwards. */
export async function withServer<T>(work: (url: string) => Promise<T>): Promise<T> {
  return withFolder(async (dataDir) => {
    const embedded = await startEmbedded({ dataDir, log: createLog({ level: 'error' }), fsync: false })
    return work(embedded.url).finally(() => embedded.stop())
  })
}

/** Passes an empty folder for servers to `work`, and removes it and its content afterwards. */
export async function withFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'tradetill-proof-'))
  // If this process is root, PostgreSQL runs as another account, which must be able to enter.
  chmodSync(folder, 0o711)
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
