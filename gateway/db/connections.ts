/**
 * Connections to PostgreSQL for a running gateway. A server that vanishes leaves its sockets open, and TCP takes a
 * quarter of an hour to notice. So each statement also has a deadline on this side, and all connections of a group can
 * be cut together.
 */
import { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import pg from 'pg'

/** The database did not answer in time. It is unknown whether the statement took effect. */
export class DatabaseSilent extends Error {
  constructor() {
    super('the database did not answer in time')
    this.name = 'DatabaseSilent'
  }
}

/** TCP keep-alive, because routers forget idle connections. */
export const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 } as const

/** How long to try one address of the database. Short: the database is near, and a long wait costs the bots' leases. */
const ADDRESS_MS = 250

class DatabaseSocket extends Socket {
  /** `pg` gives a port and a host, or the path of a local socket. */
  override connect(...passedArgs: unknown[]): this {
    const [port, host] = passedArgs
    const args =
      typeof port === 'number' && typeof host === 'string'
        ? [{ port, host, autoSelectFamilyAttemptTimeout: ADDRESS_MS }]
        : passedArgs
    return Reflect.apply(Socket.prototype.connect, this, args)
  }
}

/** A connection whose statements have a deadline. A statement that misses it ends the connection. */
export class Connection extends pg.Client {
  deadlineMs: number
  #isAsked = false

  constructor(config: string | pg.ClientConfig | undefined, deadlineMs: number) {
    super(typeof config === 'object' ? { stream: () => new DatabaseSocket(), ...config } : config)
    this.deadlineMs = deadlineMs
    // `query` has many forms: it returns a promise, or takes a callback as its last argument.
    const query = (...args: unknown[]) => this.#ask(args)
    Reflect.defineProperty(this, 'query', { value: query, writable: true })
  }

  /** True until the first statement is sent, which happens once the connection is open. */
  get isConnecting(): boolean {
    return !this.#isAsked
  }

  /** Ends the connection without telling the server. Its waiting statements fail. */
  cut(): void {
    this.connection.stream.destroy(new DatabaseSilent())
  }

  #ask(args: unknown[]): unknown {
    this.#isAsked = true
    const endDeadline = this.#startDeadline()
    const callback = args.at(-1)
    if (typeof callback === 'function') {
      args[args.length - 1] = (...results: unknown[]) => {
        endDeadline()
        Reflect.apply(callback, undefined, results)
      }
    }
    const answer: unknown = Reflect.apply(pg.Client.prototype.query, this, args)
    if (answer instanceof Promise) answer.then(endDeadline, endDeadline)
    return answer
  }

  /** Call the returned function when the answer has arrived. */
  #startDeadline(): () => void {
    let isAnswered = false
    const timer = setTimeout(async () => {
      // After a stall of this process, the answer may have arrived but not been read.
      await nextTurn()
      if (!isAnswered) this.cut()
    }, this.deadlineMs)
    return () => {
      isAnswered = true
      clearTimeout(timer)
    }
  }
}

export type ConnectionGroup = {
  /** The class of connections in this group. */
  clientWith(deadlineMs: number): new (config?: string | pg.ClientConfig) => Connection
  /** Cuts all connections, or only those not yet open. Returns their number. */
  cut(which: 'all' | 'connecting'): number
}

export function createConnectionGroup(): ConnectionGroup {
  const connections = new Set<Connection>()
  return {
    clientWith: (deadlineMs) =>
      class extends Connection {
        constructor(config?: string | pg.ClientConfig) {
          super(config, deadlineMs)
          connections.add(this)
          this.on('end', () => connections.delete(this))
        }
      },
    cut(which) {
      const affected = [...connections].filter((connection) => which === 'all' || connection.isConnecting)
      for (const connection of affected) connection.cut()
      return affected.length
    },
  }
}

/** Changes the deadline of the statements of `work`, if the connection has deadlines. */
export async function withStatementDeadline<T>(
  client: unknown,
  ms: number,
  work: () => Promise<T>,
): Promise<T> {
  if (!(client instanceof Connection)) return work()
  const before = client.deadlineMs
  client.deadlineMs = ms
  try {
    return await work()
  } finally {
    client.deadlineMs = before
  }
}
