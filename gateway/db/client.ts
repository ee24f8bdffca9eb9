/** The till's pool of connections to PostgreSQL, for Kysely. */
import { Kysely, PostgresDialect, type Transaction } from 'kysely'
import pg from 'pg'
import { type ConnectionGroup, createConnectionGroup, KEEP_ALIVE } from './connections.ts'
import type { Tables } from './schema.ts'

export type Db = Kysely<Tables>
/** A transaction. A function that takes a Tx runs in the caller's transaction. */
export type Tx = Transaction<Tables>

export type Database = { db: Db; pool: pg.Pool; close(): Promise<void> }

/** A query behind this many waiting queries would wait for seconds. */
const MOST_WAITING = 500

/** True if a further call should be refused rather than wait for a connection. */
export function isCrowded({ pool }: Pick<Database, 'pool'>, most = MOST_WAITING): boolean {
  return pool.waitingCount >= most
}

/** True if the pool had no connection in time. The query had no effect. */
export function isPoolTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === 'timeout exceeded when trying to connect'
}

/** Parsers for types that pg reads as strings, by the type's id in PostgreSQL's catalogue. */
const PARSERS = new Map<number, (text: string) => unknown>([
  [20, (int8) => BigInt(int8)],
  [1016, (int8s) => int8s.slice(1, -1).split(',').filter(Boolean).map(BigInt)],
])

export type PoolOptions = {
  url: string
  size: number
  mode: 'sandbox' | 'live'
  /** The process's connections, as a group that can be cut together. */
  connections?: ConnectionGroup
  /** Timeout for connecting to the server, and for a place in the pool. */
  connectMs?: number
  /** The server ends a statement that takes longer. */
  statementMs?: number
}

/** How much longer this side waits than the server does. The server's own error says more than a timeout here. */
const SILENCE_MS = 5_000

export const openDatabase = (url: string, size = 10, mode: 'sandbox' | 'live' = 'live'): Database =>
  openPool({ url, size, mode })

/** Opens a pool, without connecting yet. int8 is read as bigint, so no amount of money passes through a float. */
export function openPool(options: PoolOptions): Database {
  const {
    url,
    size,
    mode,
    connections = createConnectionGroup(),
    connectMs = 10_000,
    statementMs = 15_000,
  } = options
  const pool = new pg.Pool({
    connectionString: url,
    max: size,
    ...KEEP_ALIVE,
    Client: connections.clientWith(statementMs + SILENCE_MS),
    // This makes till_now() follow the clock that can be advanced.
    ...(mode === 'sandbox' && { options: '-c tradetill.mode=sandbox' }),
    connectionTimeoutMillis: connectMs,
    statement_timeout: statementMs,
    // The server ends a transaction that stays idle for this long, so it frees its locks.
    idle_in_transaction_session_timeout: 30_000,
    types: {
      getTypeParser: (oid: number, format?: string) =>
        (format === 'binary' ? undefined : PARSERS.get(oid)) ?? pg.types.getTypeParser(oid, format as 'text'),
    } as pg.CustomTypesConfig,
  })
  // An idle connection that breaks is replaced by the pool; without a listener the event would end the process.
  pool.on('error', () => {})
  // A connection may also break between two queries of a transaction. Its next query reports the break.
  pool.on('connect', (client) => client.on('error', () => {}))
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  return { db, pool, close: () => db.destroy() }
}
