/** The database of one simulated process: Kysely over connections whose every statement waits for the scheduler. */
import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely'
import pg from 'pg'
import type { Db, Tx } from '../../gateway/db/client.ts'
import type { Tables } from '../../gateway/db/schema.ts'
import type { Faults } from '../faults.ts'
import type { Scheduler } from './scheduler.ts'

/** What a transaction does beside the database: it happens exactly if the transaction commits. */
export type Effect = () => void

const EFFECT = 'simulated effect'

/** Leaves the effect to the commit of the transaction. */
export async function onCommit(tx: Tx, effect: Effect): Promise<void> {
  await tx.executeQuery(CompiledQuery.raw(EFFECT, [effect]))
}

/** The connection broke: nothing is known of what was said last. */
export class ConnectionLost extends Error {}

/** As PostgreSQL says it when another transaction was in the way. */
class SerializationFailure extends Error {
  readonly code = '40001'
}

type Line = {
  client: pg.Client
  pid: number
  isBusy: boolean
  inTransaction: boolean
  hasWritten: boolean
  effects: Effect[]
}

export type Deps = {
  url: string
  scheduler: Scheduler
  faults: Faults
  /** Waits for the process's turn. */
  gate(): Promise<void>
  /** A transaction that wrote has committed. */
  committed(): void
}

const LINES = 4

/** Writes that can break a promise. The next look at a trade, a lease and a position in the log cannot. */
const CHECKED =
  /^(insert into "(ledger_entry|event|trade|deposit|trade_item)"|update "(trade|deposit|trade_item|account)" set (?!"due_at"))/

export type Connections = { db: Db; reset(): void; close(): Promise<void> }

/** `reset` is what the server sees when the process dies: all it had open is rolled back. */
export async function openConnections(deps: Deps): Promise<Connections> {
  const lines = await Promise.all(Array.from({ length: LINES }, () => openLine(deps.url)))
  const waiting: ((line: Line) => void)[] = []
  const take = (): Promise<Line> => {
    const line = lines.find(({ isBusy }) => !isBusy)
    if (line === undefined) return new Promise((resolve) => waiting.push(resolve))
    line.isBusy = true
    return Promise.resolve(line)
  }
  const giveBack = (line: Line): void => {
    const next = waiting.shift()
    if (next === undefined) line.isBusy = false
    else next(line)
  }
  const db = new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createIntrospector: (kysely) => new PostgresIntrospector(kysely),
      createQueryCompiler: () => new PostgresQueryCompiler(),
      createDriver: () => driverOf(deps, take, giveBack),
    },
  })
  return {
    db,
    reset() {
      waiting.length = 0
      for (const line of lines) {
        const isAtWork = deps.scheduler.abandon(line.pid)
        if (isAtWork || line.inTransaction) deps.scheduler.meanwhile(() => renew(line, deps.url))
        line.isBusy = false
      }
    },
    close: async () => {
      await Promise.all(lines.map(({ client }) => client.end()))
    },
  }
}

const INT8_OID = 20

export async function openClient(url: string): Promise<pg.Client> {
  const getTypeParser = (oid: number) => (oid === INT8_OID ? BigInt : pg.types.getTypeParser(oid, 'text'))
  const client = new pg.Client({ connectionString: url, types: { getTypeParser } })
  client.on('error', () => {})
  await client.connect()
  return client
}

async function openLine(url: string): Promise<Line> {
  const client = await openClient(url)
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  const idle = { isBusy: false, inTransaction: false, hasWritten: false }
  return { client, pid: rows[0]?.pid ?? 0, ...idle, effects: [] }
}

async function renew(line: Line, url: string): Promise<void> {
  const killer = await openClient(url)
  // Waits until the backend is gone, with all that it had locked.
  await killer.query('select pg_terminate_backend($1, 5000)', [line.pid])
  await killer.end()
  Object.assign(line, await openLine(url))
}

function driverOf(deps: Deps, take: () => Promise<Line>, giveBack: (line: Line) => void): Driver {
  const { faults } = deps
  const lineOf = new WeakMap<DatabaseConnection, Line>()
  const withLine = (connection: DatabaseConnection): Line => {
    const line = lineOf.get(connection)
    if (line === undefined) throw new Error('a connection that is not of this driver')
    return line
  }
  return {
    init: async () => {},
    async acquireConnection() {
      const line = await take()
      const connection = connectionOf(deps, line)
      lineOf.set(connection, line)
      return connection
    },
    async beginTransaction(connection) {
      const line = withLine(connection)
      await say(deps, line, 'begin')
      Object.assign(line, { inTransaction: true, hasWritten: false, effects: [] })
    },
    async commitTransaction(connection) {
      const line = withLine(connection)
      await say(deps, line, 'commit')
      line.inTransaction = false
      for (const effect of line.effects) effect()
      if (line.hasWritten) deps.committed()
      if (faults.strike('commit answered by nobody', 0.002)) throw new ConnectionLost('after a commit')
    },
    async rollbackTransaction(connection) {
      const line = withLine(connection)
      if (!line.inTransaction) return
      await say(deps, line, 'rollback')
      line.inTransaction = false
    },
    releaseConnection: async (connection) => giveBack(withLine(connection)),
    destroy: async () => {},
  }
}

function connectionOf(deps: Deps, line: Line): DatabaseConnection {
  return {
    async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
      if (sql === EFFECT) {
        line.effects.push(...parameters.filter((effect): effect is Effect => typeof effect === 'function'))
        return { rows: [] }
      }
      if (line.inTransaction && deps.faults.strike('serialization failure', 0.001)) {
        throw new SerializationFailure('could not serialize access')
      }
      const { rows, rowCount, command } = await say(deps, line, sql, parameters)
      if (command === 'SELECT') return { rows }
      if (!CHECKED.test(sql)) return { rows, numAffectedRows: BigInt(rowCount ?? 0) }
      line.hasWritten = true
      if (!line.inTransaction) deps.committed()
      return { rows, numAffectedRows: BigInt(rowCount ?? 0) }
    },
    // biome-ignore lint/correctness/useYield: nothing of the till streams
    async *streamQuery() {
      throw new Error('not part of the simulation')
    },
  }
}

async function say(deps: Deps, line: Line, text: string, parameters: readonly unknown[] = []) {
  await deps.gate()
  const releases = !line.inTransaction || text === 'commit' || text === 'rollback'
  const query = { name: nameOf(text), text, values: [...parameters] }
  return deps.scheduler.fly({ pid: line.pid, releases }, () => line.client.query(query))
}

const names = new Map<string, string>()

/** A statement with a name is planned once for a connection, which a run of thousands feels. */
function nameOf(text: string): string {
  const name = names.get(text) ?? `s${names.size}`
  names.set(text, name)
  return name
}
