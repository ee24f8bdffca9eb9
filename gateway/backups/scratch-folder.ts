/**
 * A temporary folder for the check of a backup. It contains a copy of the database, the password of its server and, in
 * the sandbox, a key.
 */
import { lstatSync, readdirSync, realpathSync } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isPast } from '../kit/clock.ts'
import { tryLock } from '../kit/lock.ts'

const PREFIX = 'tradetill-check-'
const FOLDER = /^tradetill-check-[A-Za-z0-9]{6}$/

/**
 * Longer than a check takes. A free lock alone does not prove that a check was killed: checks of version 0.2.0 have
 * none, and the lock of a check in another container that shares the temporary folder cannot be seen.
 */
const ABANDONED_MS = 12 * 3_600_000

export async function withScratchFolder<T>(now: Date, work: (folder: string) => Promise<T>): Promise<T> {
  const place = realpathSync(tmpdir())
  await removeAbandoned(place, now)
  const folder = await mkdtemp(join(place, PREFIX))
  const lock = await tryLock(lockName(folder))
  try {
    // If started by root, PostgreSQL runs as another account, which must be able to enter the folder.
    await chmod(folder, 0o711)
    return await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
    await lock?.release()
  }
}

/** The name of a check's lock. A killed check leaves its lock free, and a check that is under way holds its own. */
const lockName = (folder: string): string => `check ${folder}`

/** Removes the folders of killed checks. Leaves those of other accounts, and what cannot be removed now. */
async function removeAbandoned(place: string, now: Date): Promise<void> {
  for (const name of readdirSync(place).filter((each) => FOLDER.test(each))) {
    const folder = join(place, name)
    const stats = lstatSync(folder, { throwIfNoEntry: false })
    if (stats === undefined || !stats.isDirectory() || stats.uid !== process.getuid?.()) continue
    if (!isPast(stats.ctime, ABANDONED_MS, now)) continue
    const lock = await tryLock(lockName(folder))
    if (lock === undefined) continue
    // Something may still write there, such as the server of the killed check. The next check tries again.
    await rm(folder, { recursive: true, force: true }).catch(() => {})
    await lock.release()
  }
}
