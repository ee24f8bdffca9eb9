/** Restores a copy of an embedded database into a data folder. The next start recovers it. */
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { join } from 'node:path'
import { preparePostgresFiles } from './postgres-files.ts'

/**
 * Returns the folder of the restored cluster, which may lie outside the data folder if the till runs as root. Throws if
 * `copy` is not a copy, or if there is a database already, which may hold somebody's money.
 */
export function putBack(copy: string, dataDir: string): string {
  if (!existsSync(join(copy, 'cluster'))) throw new Error(`${copy} is not a copy of an embedded database.`)
  mkdirSync(dataDir, { recursive: true })
  const { home, account } = preparePostgresFiles(realpathSync(dataDir))
  const cluster = join(home, 'cluster')
  if (existsSync(cluster)) throw new Error(`${dataDir} already has a database. Move it away first.`)
  rmSync(`${cluster}.new`, { recursive: true, force: true })
  for (const name of readdirSync(copy)) {
    const target = name === 'cluster' ? `${cluster}.new` : join(dataDir, name)
    cpSync(join(copy, name), target, { recursive: true, preserveTimestamps: true })
  }
  // PostgreSQL refuses a folder that other accounts can read.
  chmodSync(`${cluster}.new`, 0o700)
  if (account !== undefined) {
    chownSync(`${cluster}.new`, account.uid, account.gid)
    for (const path of readdirSync(`${cluster}.new`, { recursive: true, encoding: 'utf8' }))
      chownSync(join(`${cluster}.new`, path), account.uid, account.gid)
  }
  // Move the copy only when complete, so a start finds all of it or nothing.
  renameSync(`${cluster}.new`, cluster)
  return cluster
}
