/** Restores a copy of an embedded database into a data folder. The next start recovers it. */
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { lockDataFolder } from './data-folder.ts'
import { giveTo, preparePostgresFiles } from './postgres-files.ts'

/**
 * Returns the folder of the restored cluster, which may lie outside the data folder if the till runs as root. Throws if
 * `copy` is not a copy, or if there is a database already, which may hold somebody's money.
 */
export async function putBack(copy: string, dataDir: string): Promise<string> {
  if (!existsSync(join(copy, 'cluster'))) throw new Error(`${copy} is not a copy of an embedded database.`)
  const { folder, lock } = await lockDataFolder(dataDir)
  try {
    return await putInto(folder, copy)
  } finally {
    await lock.release()
  }
}

async function putInto(dataDir: string, copy: string): Promise<string> {
  const { home, account } = preparePostgresFiles(dataDir)
  const cluster = join(home, 'cluster')
  if (existsSync(cluster)) throw new Error(`${dataDir} already has a database. Move it away first.`)
  // The cluster comes last: a start finds a database only if everything else is there.
  const names = readdirSync(copy).sort((a, b) => Number(a === 'cluster') - Number(b === 'cluster'))
  const clusterPlace = placeOf(cluster, join(copy, 'cluster'))
  const places = names.map((name) =>
    name === 'cluster' ? clusterPlace : placeOf(join(dataDir, name), join(copy, name)),
  )
  const removeUnfinished = (): void => {
    for (const { unfinished } of places) rmSync(unfinished, { recursive: true, force: true })
  }
  removeUnfinished()
  try {
    // Not `cpSync`, which reports a full disk as an input/output error.
    for (const { from, unfinished } of places)
      await cp(from, unfinished, { recursive: true, preserveTimestamps: true })
    giveTo(account, clusterPlace.unfinished)
    // Replace nothing before everything is copied: a failed restore leaves the password and key that were there.
    for (const { unfinished, target } of places) renameSync(unfinished, target)
  } catch (error) {
    // The copied part may have filled the disk.
    removeUnfinished()
    throw error
  }
  return cluster
}

type Place = { from: string; unfinished: string; target: string }

const placeOf = (target: string, from: string): Place => ({ from, unfinished: `${target}.new`, target })
