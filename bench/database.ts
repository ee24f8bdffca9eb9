import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbedded } from '../embedded-postgres/embedded.ts'
import { createLog } from '../gateway/kit/log.ts'

/** `fsync`: on as in production, or off if the disk is not measured. */
export async function withDatabase<T>(
  { fsync }: { fsync: boolean },
  work: (serverUrl: string) => Promise<T>,
): Promise<T> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tradetill-bench-'))
  // If root runs this, PostgreSQL runs as another account, which must be able to reach the folder.
  chmodSync(dataDir, 0o711)
  const embedded = await startEmbedded({ dataDir, log: createLog({ level: 'error' }), fsync })
  try {
    return await work(embedded.url)
  } finally {
    await embedded.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}
