/**
 * Copies the folder of a running server. A server that starts on the copy recovers it. The recovery ends on another
 * timeline, so a till on the copy detects that it was restored. The embedded server, when it starts on a copy, also
 * marks the copy as restored.
 */
import { createReadStream, createWriteStream, type Dirent } from 'node:fs'
import { appendFile, mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type pg from 'pg'
import { endBackup, startBackup } from './store.ts'

/** Folders that are copied empty, because a server fills them. `pg_wal` later gets the log of the backup. */
const EMPTIED = new Set([
  'pg_wal',
  'pg_replslot',
  'pg_dynshmem',
  'pg_notify',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
])
/**
 * Files that belong to the running server or to an earlier backup, and not to the copy. `recovered-copy` is the note of
 * the embedded server that its cluster is a restored copy.
 */
const LEFT_OUT =
  /^(?:postmaster\.(?:pid|opts)|pg_internal\.init.*|pgsql_tmp.*|backup_label.*|.*\.signal|recovered-copy)$/
/** A segment of the server's write-ahead log. */
const SEGMENT = /^[0-9A-F]{24}$/
/** The first log segment of the backup, in the backup's label. */
const FIRST_SEGMENT = /\(file ([0-9A-F]{24})\)/

/** Copies the server's data into `target`, a new folder. Nothing else may use the connection until this ends. */
export async function copyCluster(client: Pick<pg.Client, 'query'>, target: string): Promise<void> {
  const source = await startBackup(client)
  await copyFolder(source, target)
  const { label, tablespaces } = await endBackup(client)
  if (tablespaces !== '') throw new Error('The server has tablespaces outside of its folder.')
  const first = FIRST_SEGMENT.exec(label)?.[1] ?? ''
  const log = join(source, 'pg_wal')
  for (const name of await readdir(log)) {
    const isNeeded = SEGMENT.test(name) ? name >= first : name.endsWith('.history')
    if (isNeeded) await copyFile(join(log, name), join(target, 'pg_wal', name))
  }
  await writeFile(join(target, 'backup_label'), label, { mode: 0o600 })
  await writeFile(join(target, 'recovery.signal'), '', { mode: 0o600 })
  // `recovery.signal` requires a restore command. The copy contains all of the log, so the command fetches none.
  await appendFile(join(target, 'postgresql.auto.conf'), "restore_command = 'exit 1'\n")
}

async function copyFolder(source: string, target: string): Promise<void> {
  await mkdir(target, { mode: 0o700 })
  for (const entry of await readdir(source, { withFileTypes: true })) await copyEntry(entry, source, target)
}

async function copyEntry(entry: Dirent, source: string, target: string): Promise<void> {
  if (LEFT_OUT.test(entry.name)) return
  const [from, to] = [join(source, entry.name), join(target, entry.name)]
  if (entry.isFile()) return copyFile(from, to)
  if (!entry.isDirectory()) return
  if (EMPTIED.has(entry.name)) await mkdir(to, { mode: 0o700 })
  else await copyFolder(from, to)
}

/** Ignores a file that the server removed meanwhile: recovery replays the removal from the log. */
async function copyFile(from: string, to: string): Promise<void> {
  try {
    await pipeline(createReadStream(from), createWriteStream(to, { mode: 0o600, flush: true }))
  } catch (error) {
    if (!(error instanceof Error)) throw error
    if ('code' in error && error.code === 'ENOENT') return
    // The error of a failed read or write, such as on a full disk, does not say which file.
    throw new Error(`${from} could not be copied to ${to}: ${error.message}`, { cause: error })
  }
}
