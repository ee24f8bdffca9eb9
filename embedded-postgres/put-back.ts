/** Restores a copy of an embedded database into a data folder. The next start recovers it. */
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { tryLock } from '../gateway/kit/lock.ts'
import { type Account, preparePostgresFiles } from './postgres-files.ts'

/**
 * Returns the folder of the restored cluster, which may lie outside the data folder if the till runs as root. Throws if
 * `copy` is not a copy, or if there is a database already, which may hold somebody's money.
 */
export async function putBack(copy: string, dataDir: string): Promise<string> {
  if (!existsSync(join(copy, 'cluster'))) throw new Error(`${copy} is not a copy of an embedded database.`)
  mkdirSync(dataDir, { recursive: true })
  const folder = realpathSync(dataDir)
  // The lock of a gateway: a second restore would remove files of this one, and a gateway would create a database.
  const lock = await tryLock(`gateway ${folder}`)
  if (lock === undefined)
    throw new Error(`Another gateway or restore is using the data folder ${dataDir}. Stop it first.`)
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
  const unfinished = `${cluster}.new`
  rmSync(unfinished, { recursive: true, force: true })
  try {
    await copyFiles(copy, { unfinished, dataDir, account })
  } catch (error) {
    // The copied part may have filled the disk.
    rmSync(unfinished, { recursive: true, force: true })
    throw error
  }
  // Move the copy only when complete, so a start finds all of it or nothing.
  renameSync(unfinished, cluster)
  return cluster
}

type Place = { unfinished: string; dataDir: string; account: Account | undefined }

async function copyFiles(copy: string, { unfinished, dataDir, account }: Place): Promise<void> {
  for (const name of readdirSync(copy)) {
    const target = name === 'cluster' ? unfinished : join(dataDir, name)
    // Unlike this, `cpSync` calls a full disk an input/output error.
    await cp(join(copy, name), target, { recursive: true, preserveTimestamps: true })
  }
  // PostgreSQL refuses a folder that other accounts can read.
  chmodSync(unfinished, 0o700)
  if (account === undefined) return
  chownSync(unfinished, account.uid, account.gid)
  for (const path of readdirSync(unfinished, { recursive: true, encoding: 'utf8' }))
    chownSync(join(unfinished, path), account.uid, account.gid)
}
