import { realpathSync } from 'node:fs'
import { type Lock, tryLock } from '../gateway/kit/lock.ts'
import { makeFolder } from '../gateway/kit/make-folder.ts'

/**
 * Creates the data folder if there is none, and takes its lock, because only one gateway or restore may use the folder
 * at a time. Throws if somebody holds the lock. `folder`: the real path.
 */
export async function lockDataFolder(dataDir: string): Promise<{ folder: string; lock: Lock }> {
  makeFolder(dataDir)
  const folder = realpathSync(dataDir)
  const lock = await tryLock(`gateway ${folder}`)
  if (lock === undefined)
    throw new Error(`Another gateway or restore is using the data folder ${dataDir}. Stop it first.`)
  return { folder, lock }
}
