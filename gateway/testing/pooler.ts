/** A pooler in front of PostgreSQL. Depending on `mode`, a client gets one session, or one per transaction. */
import { createServer, type Socket } from 'node:net'
import pg from 'pg'

type Mode = 'transaction' | 'session'

/** Types of PostgreSQL's messages, and the state in a READY message after a transaction. */
const READY = 'Z'.charCodeAt(0)
const IDLE = 'I'.charCodeAt(0)
const GOODBYE = 'X'.charCodeAt(0)

const message = (type: string, body: Buffer): Buffer => {
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeUInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

const parameter = (name: string, value: string) => message('S', Buffer.from(`${name}\0${value}\0`))

/** The answer to a connection's start. A pooler invents the process number. */
const WELCOME = Buffer.concat([
  message('R', Buffer.alloc(4)),
  parameter('client_encoding', 'UTF8'),
  parameter('server_version', '18.0'),
  message('K', Buffer.from([0, 0, 0, 1, 0, 0, 0, 2])),
  message('Z', Buffer.from('I')),
])

/** Cuts a stream into messages. The start of a connection has no type. */
function createCutter(isStarted: boolean, take: (whole: Buffer, type: number | undefined) => void) {
  let rest = Buffer.alloc(0)
  let started = isStarted
  return (chunk: Buffer): void => {
    rest = Buffer.concat([rest, chunk])
    for (;;) {
      const typeBytes = started ? 1 : 0
      if (rest.length < typeBytes + 4) return
      const length = rest.readUInt32BE(typeBytes) + typeBytes
      if (rest.length < length) return
      take(rest.subarray(0, length), started ? rest[0] : undefined)
      rest = rest.subarray(length)
      started = true
    }
  }
}

type Session = {
  end(): void
  write(bytes: Buffer): void
  /** `isFree`: whether the message ends the session's transaction. */
  listen(to: (bytes: Buffer, isFree: boolean) => void): void
}

async function openSession(url: string): Promise<Session> {
  const client = new pg.Client({ connectionString: url })
  // The server may cut the connection. An error without a listener would end the process.
  client.on('error', () => {})
  await client.connect()
  const { stream } = client.connection
  stream.removeAllListeners('data')
  let to = (_bytes: Buffer, _isFree: boolean): void => {}
  const cut = createCutter(true, (whole, type) => to(whole, type === READY && whole[5] === IDLE))
  stream.on('data', cut)
  return {
    end: () => void stream.destroy(),
    write: (bytes) => void stream.write(bytes),
    listen: (listener) => {
      to = listener
    },
  }
}

export async function startPooler(
  databaseUrl: string,
  mode: Mode,
): Promise<{ url: string; close(): Promise<void> }> {
  const idle: Session[] = []
  const allSessions = new Set<Session>()
  const clients = new Set<Socket>()

  const serve = (client: Socket): void => {
    let session: Promise<Session> | undefined
    const take = async (): Promise<Session> => {
      const opened = idle.pop() ?? (await openSession(databaseUrl))
      allSessions.add(opened)
      opened.listen((bytes, isFree) => {
        client.write(bytes)
        if (!isFree || mode === 'session') return
        session = undefined
        opened.listen(() => {})
        idle.push(opened)
      })
      return opened
    }
    const cut = createCutter(false, (whole, type) => {
      if (type === undefined) return void client.write(WELCOME)
      if (type === GOODBYE) return void client.end()
      session ??= take()
      const bytes = Buffer.from(whole)
      void session.then((opened) => opened.write(bytes))
    })
    clients.add(client)
    client.on('data', cut).on('error', () => {})
    client.on('close', () => {
      clients.delete(client)
      void session?.then((opened) => opened.end())
    })
  }
  const server = createServer(serve)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the pooler has no port')
  const url = new URL(databaseUrl)
  url.host = `127.0.0.1:${address.port}`
  return {
    url: url.href,
    close() {
      for (const client of clients) client.destroy()
      for (const session of allSessions) session.end()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
