/** Makes and checks backups, and restores those of an embedded database. A dump is restored with `pg_restore`. */

import type { Inspection } from '../backups/inspect.ts'
import { type Backup, checkCopy, checkDump, copyEmbedded, dump, restoreCopy } from '../backups/service.ts'
import { runningDatabase } from '../db/connection-file.ts'
import { leadToOneDatabase, TWO_DATABASES } from '../db/roles.ts'
import { counted } from '../kit/counted.ts'
import { isFolder } from '../kit/make-folder.ts'
import { type Answer, done, refused, type StandaloneDeps } from './operation.ts'

const STOPPED = refused(
  'unreachable',
  'No gateway is running on the embedded database. Start it first: a backup is made while it runs.',
)

/** Copies the embedded database of a running gateway into `folder`, or dumps any other database there. */
export async function createBackup(
  { config, url, now }: StandaloneDeps,
  folder: string,
): Promise<Answer<Backup>> {
  if (config.databaseUrl === undefined) {
    const running = runningDatabase(config.dataDir)
    if (running === undefined || url === undefined) return STOPPED
    const backup = await copyEmbedded({ ownerUrl: running.ownerUrl, dataDir: config.dataDir }, folder, now)
    return done(
      backup,
      `${backup.path} contains the database with its password and its master key: keep it private.`,
    )
  }
  const { databaseUrl, ownerDatabaseUrl } = config
  // After a restore, one of the URLs may still lead to the old database, and backups would be copies of the old one.
  if (ownerDatabaseUrl !== undefined && !(await leadToOneDatabase(ownerDatabaseUrl, databaseUrl)))
    return refused('conflict', `Nothing was backed up: ${TWO_DATABASES}`)
  const answer = await dump(ownerDatabaseUrl ?? databaseUrl, folder, {
    at: now,
    ...config.programs,
  })
  if (answer.kind === 'refused') return refused('failed', answer.reason)
  const { path, bytes } = answer.backup
  return done(
    answer.backup,
    `${path} contains the database, ${bytes} bytes. The master key is not in it: keep the key too.`,
  )
}

export type CheckedBackup = Omit<Inspection, 'differences'> & { differences: number }

/**
 * Checks a backup by restoring it elsewhere. `server`: URL of a server on which a dump is restored into a new database;
 * by default the till's own.
 */
export async function checkBackup(
  { config, url, now }: StandaloneDeps,
  path: string,
  server: string | undefined,
): Promise<Answer<CheckedBackup>> {
  const { mode, masterKey, oldMasterKeys } = config
  const claim = { mode, masterKey, oldMasterKeys }
  const serverUrl = server ?? config.ownerDatabaseUrl ?? url
  const checked = isFolder(path)
    ? await checkCopy(path, claim, now)
    : serverUrl === undefined
      ? undefined
      : await checkDump(path, { serverUrl, claim, at: now, ...config.programs })
  if (checked === undefined)
    return refused('usage', 'Name a server with --server: the dump is restored into a new database there.')
  if (checked.kind !== 'inspected')
    return refused(checked.kind === 'damaged' ? 'damaged' : 'failed', checked.reason)
  const { differences, ...rest } = checked.inspection
  const data = { ...rest, differences: differences.length }
  return differences.length === 0
    ? done(data)
    : {
        kind: 'refused',
        refusal: 'damaged',
        message: `The ledger has ${counted(differences.length, 'difference')}: ${differences[0]?.problem}.`,
        data,
      }
}

export type RestoredBackup = { dataDir: string }

/** Restores a backup into the data folder. Refuses if the folder already has a database, or DATABASE_URL is set. */
export async function restoreBackup(
  { config }: StandaloneDeps,
  path: string,
): Promise<Answer<RestoredBackup>> {
  const { dataDir, databaseUrl } = config
  if (databaseUrl !== undefined) {
    return refused(
      'conflict',
      'DATABASE_URL is set: a dump is restored with pg_restore, see docs/operating.md.',
    )
  }
  const reason = await restoreCopy(path, dataDir)
  return reason === undefined
    ? done(
        { dataDir },
        `The database of ${path} is restored to ${dataDir}. Start the gateway, then run restore status.`,
      )
    : refused('failed', reason)
}
