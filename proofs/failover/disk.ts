/** A disk that only the proof uses, so it can be filled up. */
import { execFileSync } from 'node:child_process'
import { chmodSync, closeSync, ftruncateSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { reasonOf } from '../../gateway/kit/reason.ts'

/** Room for a database cluster, its log and some minutes of load. */
const DISK_SIZE = '700m'
const BLOCK = Buffer.alloc(1_048_576)
/** Blocks that `fill` leaves free, because the server must hit the limit while it works. */
const FREE_BLOCKS = 8

export type Disk = {
  folder: string
  /** Why this is only an ordinary folder, which cannot be filled up; undefined if it is a disk. */
  problem: string | undefined
  fill(): void
  makeRoom(): void
  remove(): void
}

/** Mounts the disk. If that fails, makes an ordinary folder, whose `problem` says why. */
export function openDisk(): Disk {
  const folder = mkdtempSync(join(tmpdir(), 'tradetill-disk-'))
  const problem = mount(folder)
  // If this process is root, PostgreSQL runs as another account, which must be able to enter.
  chmodSync(folder, 0o711)
  const ballast = join(folder, 'ballast')
  return {
    folder,
    problem,
    fill: () => fillWith(ballast),
    makeRoom: () => rmSync(ballast, { force: true }),
    remove() {
      if (problem === undefined) execFileSync('umount', [folder], { stdio: 'ignore' })
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Mounts a disk in memory. Returns why that failed; undefined if it is mounted. */
function mount(folder: string): string | undefined {
  if (process.platform !== 'linux') return 'a disk in memory is mounted on Linux only'
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_SIZE}`, 'tmpfs', folder], { stdio: 'pipe' })
    return undefined
  } catch (error) {
    return `a disk in memory cannot be mounted: ${reasonOf(error).trim().replaceAll(/\s+/g, ' ')}`
  }
}

function fillWith(ballast: string): void {
  const file = openSync(ballast, 'w')
  let blocks = 0
  try {
    for (; ; blocks += 1) if (writeSync(file, BLOCK) < BLOCK.length) break
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
  }
  ftruncateSync(file, Math.max(0, blocks - FREE_BLOCKS) * BLOCK.length)
  closeSync(file)
}
