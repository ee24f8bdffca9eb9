/**
 * The vault's own folder. No other user of the machine may read it, which is not checked on Windows. Every write
 * reaches the disk.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'

export type Folder = {
  at(name: string): string
  /** True if there is such a file. Throws if it belongs to another user, or is open to others. */
  has(name: string): boolean
  /** Reads a file. Undefined if there is none. Throws as `has` does. */
  read(name: string): string | undefined
  write(name: string, text: string): void
}

/** Opens the folder, or creates it. Throws if the folder belongs to another user, or is open to others. */
export function openFolder(path: string): Folder {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  refuseUnlessPrivate(path)
  const has = (name: string): boolean => {
    const file = join(path, name)
    if (!existsSync(file)) return false
    refuseUnlessPrivate(file)
    return true
  }
  return {
    at: (name) => join(path, name),
    has,
    read: (name) => (has(name) ? readFileSync(join(path, name), 'utf8') : undefined),
    write(name, text) {
      const file = join(path, name)
      const handle = openSync(`${file}.new`, 'w', 0o600)
      try {
        writeFileSync(handle, text)
        fsyncSync(handle)
      } finally {
        closeSync(handle)
      }
      renameSync(`${file}.new`, file)
      syncFolder(path)
    },
  }
}

/** A power cut loses a new file's name unless its folder is synced too. Windows has no such call. */
export function syncFolder(path: string): void {
  if (process.platform === 'win32') return
  const handle = openSync(path, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

function refuseUnlessPrivate(path: string): void {
  const { mode, uid } = lstatSync(path)
  const ownUid = process.getuid?.()
  // Windows has no user ids.
  if (ownUid === undefined) return
  if (uid !== ownUid) throw new Error(`${path} belongs to another user. The vault must own its files.`)
  if ((mode & 0o077) !== 0) {
    throw new Error(`${path} is open to other users: chmod ${(mode & 0o700).toString(8)} ${path}`)
  }
}
