/** A proxy in front of PostgreSQL that can go silent like a vanished server: no FIN, no reset, no answer. */
import { connect, createServer, type Socket } from 'node:net'

export type SilentProxy = {
  /** The address of the database through the proxy. */
  url: string
  /** Stops all traffic. Open connections are dead for good, and new connections get no answer. */
  swallow(): void
  /** Silences open connections for good. New ones work, as after the server was replaced. */
  replace(): void
  /** Ends open connections and refuses new ones. */
  refuse(): void
  /** Accepts new connections again. */
  pass(): void
  /** Connections attempted so far, and connections open now. */
  counts(): { tried: number; open: number }
  close(): Promise<void>
}

type Mode = 'pass' | 'swallow' | 'refuse'

export async function startSilentProxy(databaseUrl: string): Promise<SilentProxy> {
  const target = new URL(databaseUrl)
  const pairs = new Map<Socket, Socket | undefined>()
  let mode: Mode = 'pass'
  let tried = 0

  const forget = (client: Socket) => {
    // Otherwise the server would hold locks for a client that is gone.
    pairs.get(client)?.destroy()
    pairs.delete(client)
  }
  const silence = (client: Socket) => {
    const server = pairs.get(client)
    client.unpipe().removeAllListeners('data').resume()
    server?.unpipe().resume().destroy()
    pairs.set(client, undefined)
  }
  const server = createServer((client) => {
    tried += 1
    // The client notices its lost connection itself. Without a listener, the error would end the process.
    client.on('error', () => {}).on('close', () => forget(client))
    if (mode === 'refuse') return void client.resetAndDestroy()
    pairs.set(client, undefined)
    if (mode === 'swallow') return void client.resume()
    const database = connect(Number(target.port), target.hostname)
    pairs.set(client, database)
    database.on('error', () => client.destroy())
    database.on('close', () => pairs.get(client) === database && client.destroy())
    client.pipe(database).pipe(client)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port')
  const url = new URL(databaseUrl)
  url.host = `127.0.0.1:${address.port}`
  const silenceAll = () => {
    for (const client of pairs.keys()) silence(client)
  }
  return {
    url: url.href,
    swallow() {
      mode = 'swallow'
      silenceAll()
    },
    replace() {
      mode = 'pass'
      silenceAll()
    },
    refuse() {
      mode = 'refuse'
      for (const client of pairs.keys()) client.destroy()
    },
    pass() {
      mode = 'pass'
    },
    counts: () => ({ tried, open: pairs.size }),
    close() {
      for (const client of pairs.keys()) client.destroy()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
