/** A disk of the proof's own, which can be full. */
import { execFileSync } from 'node:child_process'
import { chmodSync, closeSync, ftruncateSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Room for a cluster, its log and some minutes of load. */
const DISK = '700m'
const BLOCK = Buffer.alloc(1_048_576)
/** How much is left to the server when the rest is taken: it must meet the end itself, while it works. */
const LEFT_BLOCKS = 8

export type Disk = {
  folder: string
  /** Why it cannot be full: then it is a folder like any other. */
  refused: string | undefined
  /** Takes the room that is left, but for a little. */
  fill(): void
  makeRoom(): void
  remove(): void
}

/** Needs the right to mount; without it the folder is there, and says that it cannot be full. */
export function openDisk(): Disk {
  const folder = mkdtempSync(join(tmpdir(), 'tradetill-disk-'))
  const refused = mount(folder)
  // As root, PostgreSQL runs as another account and must be able to pass.
  chmodSync(folder, 0o711)
  const ballast = join(folder, 'ballast')
  return {
    folder,
    refused,
    fill: () => fillWith(ballast),
    makeRoom: () => rmSync(ballast, { force: true }),
    remove() {
      if (refused === undefined) execFileSync('umount', [folder], { stdio: 'ignore' })
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function mount(folder: string): string | undefined {
  if (process.platform !== 'linux') return 'a disk in memory is mounted on Linux only'
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK}`, 'tmpfs', folder], { stdio: 'ignore' })
    return undefined
  } catch {
    return 'mounting a disk in memory needs root'
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
  ftruncateSync(file, Math.max(0, blocks - LEFT_BLOCKS) * BLOCK.length)
  closeSync(file)
}
