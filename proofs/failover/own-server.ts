/** A database server that can crash or fill its disk, behind a fixed address. */
import { setTimeout as delay } from 'node:timers/promises'
import { startRedirectProxy } from '../restore/redirect-proxy.ts'
import { type Disk, openDisk } from './disk.ts'
import { crashServer, execute, startServer } from './server.ts'

/** Inserts a text of almost a megabyte, so the table grows each time. */
const INSERT_FILLER = `insert into filler select string_agg(md5(random()::text), '') from generate_series(1, 30000)`
/** How long the server may take to fill up the disk. */
const MOST_FILL_MS = 120_000

export type OwnServer = {
  url: string
  /** Why its disk cannot be filled; undefined if it can. */
  diskProblem: string | undefined
  /** Kills the server in the middle of its work. Resolves once none of its processes runs. */
  crash(): Promise<void>
  start(): Promise<void>
  fillDisk(): Promise<void>
  /** Makes room on the disk, and restarts the server if it ended because of the full disk. */
  makeRoom(): Promise<void>
  close(): Promise<void>
}

export async function openOwnServer(): Promise<OwnServer> {
  const disk = openDisk()
  const proxy = await startRedirectProxy()
  const dataDir = `${disk.folder}/data`
  const startAndRoute = async () => {
    const server = await startServer(dataDir)
    proxy.redirectTo(Number(new URL(server.url).port))
    const state = { ...server, hasEnded: false }
    void server.died.then(() => {
      state.hasEnded = true
    })
    return state
  }
  let server = await startAndRoute()
  const url = new URL(server.url)
  url.port = String(proxy.port)
  return {
    url: url.href,
    diskProblem: disk.problem,
    async crash() {
      crashServer(server)
      await server.died
    },
    async start() {
      server = await startAndRoute()
    },
    fillDisk: () => fillDisk(disk, server.url),
    async makeRoom() {
      disk.makeRoom()
      if (await hasEnded(server)) server = await startAndRoute()
      await execute(server.url, 'drop table filler')
    },
    async close() {
      await server.stop()
      await proxy.close()
      disk.remove()
    },
  }
}

async function fillDisk(disk: Disk, url: string): Promise<void> {
  await execute(url, 'create table if not exists filler (text text)')
  disk.fill()
  const endMs = performance.now() + MOST_FILL_MS
  while (performance.now() < endMs) {
    try {
      await execute(url, INSERT_FILLER)
    } catch {
      // The disk is full.
      return
    }
  }
  throw new Error('the disk of the server did not fill up')
}

/** Whether the server ended. On a full disk it may restart once to recover, and end if that fails. */
async function hasEnded(server: { url: string; hasEnded: boolean }): Promise<boolean> {
  for (;;) {
    if (server.hasEnded) return true
    try {
      await execute(server.url, 'select')
      return false
    } catch {
      // It is restarting.
      await delay(100)
    }
  }
}
