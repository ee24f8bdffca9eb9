/** A proxy between a client and PostgreSQL that cuts the connection at a given place. */
import { connect, createServer, type Socket } from 'node:net'

/** Where to cut, counted over both directions. The only client waits for each answer, so the order is fixed. */
export type Cut = { afterMessages: number } | { afterBytes: number } | 'never'

export type Passed = { messages: number; bytes: number; isCut: boolean }

export type CutProxy = {
  port: number
  /** Starts to count, and cuts at this place. */
  arm(cut: Cut): void
  /** Stops cutting. Returns what has passed since `arm`. */
  disarm(): Passed
  close(): Promise<void>
}

/** Every message begins with its type and length, except the one that starts a connection. */
const HEAD_BYTES = 5

/** Finds the ends of messages in a stream that starts at a message boundary. So arm the proxy on an open connection. */
function createCounter() {
  let head = Buffer.alloc(0)
  let bodyLeft = 0
  return {
    /** Reads bytes until a message ends. Returns the number of bytes read, and whether a message ended. */
    take(chunk: Buffer): { bytes: number; hasEnded: boolean } {
      let used = 0
      if (bodyLeft === 0) {
        const missing = HEAD_BYTES - head.length
        head = Buffer.concat([head, chunk.subarray(0, missing)])
        used = Math.min(missing, chunk.length)
        if (head.length < HEAD_BYTES) return { bytes: used, hasEnded: false }
        bodyLeft = head.readUInt32BE(1) - (HEAD_BYTES - 1)
        head = Buffer.alloc(0)
        if (bodyLeft === 0) return { bytes: used, hasEnded: true }
      }
      const body = Math.min(bodyLeft, chunk.length - used)
      bodyLeft -= body
      return { bytes: used + body, hasEnded: bodyLeft === 0 && body > 0 }
    },
  }
}

export async function startCutProxy(target: { host: string; port: number }): Promise<CutProxy> {
  let cut: Cut = 'never'
  let passed: Passed = { messages: 0, bytes: 0, isCut: false }
  const open = new Set<Socket>()
  let counters = new Map<Socket, ReturnType<typeof createCounter>>()

  const isReached = () =>
    cut !== 'never' &&
    ('afterBytes' in cut ? passed.bytes >= cut.afterBytes : passed.messages >= cut.afterMessages)

  /** Counts a chunk's bytes and messages up to the cut. Returns how many bytes may pass. */
  const countPassable = (from: Socket, chunk: Buffer): number => {
    const counter = counters.get(from) ?? createCounter()
    counters.set(from, counter)
    let used = 0
    while (used < chunk.length && !isReached()) {
      const most = cut !== 'never' && 'afterBytes' in cut ? cut.afterBytes - passed.bytes : chunk.length
      const { bytes, hasEnded } = counter.take(chunk.subarray(used, used + most))
      used += bytes
      passed.bytes += bytes
      if (hasEnded) passed.messages += 1
    }
    return used
  }

  const server = createServer((client) => {
    const database = connect(target)
    const pass = (from: Socket, to: Socket) => (chunk: Buffer) => {
      const bytes = countPassable(from, chunk)
      if (bytes > 0) to.write(chunk.subarray(0, bytes))
      if (!isReached()) return
      passed.isCut = true
      // `end` still delivers everything that has passed, so the server can commit although no answer arrives.
      database.end()
      client.destroy()
    }
    for (const [socket, other] of [
      [client, database],
      [database, client],
    ] as const) {
      open.add(socket)
      socket.setNoDelay(true)
      socket.on('data', pass(socket, other))
      socket.on('error', () => other.destroy())
      socket.on('close', () => {
        open.delete(socket)
        other.end()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port')
  return {
    port: address.port,
    arm(where) {
      cut = where
      passed = { messages: 0, bytes: 0, isCut: false }
      counters = new Map()
    },
    disarm() {
      cut = 'never'
      return passed
    },
    close() {
      for (const socket of open) socket.destroy()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
