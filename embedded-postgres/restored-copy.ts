/**
 * Marks the database of a restored copy, because its server looks like a promoted replica: it has the original's
 * identifier and a new timeline. A replica may begin an epoch without an operator, but a copy must wait for one.
 */
import { closeSync, existsSync, fsyncSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'

/** The note lies in the cluster, so it moves with the database that it is about. A backup leaves it out. */
const noteOf = (cluster: string): string => join(cluster, 'recovered-copy')

/**
 * Call this before the server starts. The recovery removes PostgreSQL's own sign of a copy. If this start ends
 * before `markCopy`, the note shows the next start that this is a copy.
 */
export function noteCopy(cluster: string): void {
  if (!existsSync(join(cluster, 'recovery.signal'))) return
  // Readable for the account that runs the server. Nobody else can enter the folder.
  writeFileSync(noteOf(cluster), '', { mode: 0o644, flush: true })
  syncFolder(cluster)
}

/**
 * Call this after the server has recovered, and before a gateway can connect. Replaces the epoch's record of its
 * server, so the till finds itself on another server until `restore finish` begins the next epoch.
 */
export async function markCopy(cluster: string, url: string): Promise<void> {
  const note = noteOf(cluster)
  if (!existsSync(note)) return
  const client = new pg.Client({ connectionString: url })
  // A broken connection also rejects its query, so this event can be ignored.
  client.on('error', () => {})
  await client.connect()
  try {
    // A copy that an early version made has no epochs.
    const { rows } = await client.query<{ has: boolean }>(
      `select to_regclass('public.epoch') is not null as has`,
    )
    if (rows[0]?.has)
      await client.query(
        `update epoch set system_identifier = 'restored' where number = (select max(number) from epoch)`,
      )
  } finally {
    await client.end()
  }
  rmSync(note)
  syncFolder(cluster)
}

/** Makes what was created or removed in the folder survive a power cut. Windows cannot open a folder. */
function syncFolder(path: string): void {
  if (process.platform === 'win32') return
  const handle = openSync(path, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
