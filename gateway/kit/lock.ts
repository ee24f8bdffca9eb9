import { rmSync, statSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { sha256 } from './sha256.ts'

export type Lock = { release(): Promise<void> }

const RETRY_MS = 50

/**
 * Takes the machine-wide lock called `name`, or resolves to undefined while somebody holds it.
 * The lock is a bound socket, not a file with a pid, so a killed holder never keeps it.
 */
export async function tryLock(name: string): Promise<Lock | undefined> {
  const address = addressOf(name)
  const server = (await listen(address)) ?? (await takeOver(name, address))
  if (server === undefined) return undefined
  server.unref()
  return { release: () => new Promise((resolve) => server.close(() => resolve())) }
}

/** Like tryLock, but keeps trying for `waitMs` before it gives up. */
export async function waitForLock(name: string, waitMs: number): Promise<Lock | undefined> {
  const end = performance.now() + waitMs
  for (;;) {
    const lock = await tryLock(name)
    if (lock !== undefined || performance.now() >= end) return lock
    await delay(RETRY_MS)
  }
}

function addressOf(name: string): string {
  const hash = sha256(name).toString('hex').slice(0, 32)
  // The leading \0 makes an abstract socket, which leaves no file.
  if (process.platform === 'linux') return `\0tradetill-${hash}`
  if (process.platform === 'win32') return `\\\\.\\pipe\\tradetill-${hash}`
  return join(tmpdir(), `tradetill-${hash}.sock`)
}

function listen(address: string): Promise<Server | undefined> {
  const server = createServer((socket) => socket.destroy())
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(undefined)
      else reject(error)
    })
    server.listen(address, () => resolve(server))
  })
}

/**
 * Outside Linux and Windows, the socket is a file, which outlives a killed holder. Replaces it if nothing answers. Of
 * several callers that find the same file, only the one that holds the lock for its removal may remove it: otherwise
 * the second one would remove the new file of the first.
 */
async function takeOver(name: string, address: string): Promise<Server | undefined> {
  if (process.platform === 'linux' || process.platform === 'win32') return undefined
  const leftover = identityOf(address)
  if (leftover === undefined) return listen(address)
  if (await isAnswered(address)) return undefined
  const removal = await tryLock(`${name} without ${leftover}`)
  if (removal === undefined) return undefined
  try {
    if (identityOf(address) !== leftover) return undefined
    rmSync(address, { force: true })
    return await listen(address)
  } finally {
    await removal.release()
  }
}

function identityOf(address: string): string | undefined {
  const stats = statSync(address, { bigint: true, throwIfNoEntry: false })
  return stats && `${stats.ino} ${stats.ctimeNs}`
}

/**
 * Only a refused connection proves that the holder has ended: a live holder under another account can be unreachable.
 */
function isAnswered(address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(address, () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code !== 'ECONNREFUSED'))
  })
}
