/** The database of one simulated process: Kysely on connections where every statement waits for the scheduler. */
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
import type { Db, Tx } from '../../../gateway/db/client.ts'
import type { Tables } from '../../../gateway/db/schema.ts'
import type { Faults } from '../faults.ts'
import type { Scheduler } from './scheduler.ts'
import type { Session, Sessions } from './sessions.ts'

/** An effect outside the database. It happens if and only if its transaction commits. */
export type Effect = () => void

/** A statement that marks an effect. It can also be a part of a larger statement. */
const EFFECT = "select 'simulated effect' where $1::text is null"

/** Runs the effect when the transaction commits. */
export async function onCommit(tx: Tx, effect: Effect): Promise<void> {
  await tx.executeQuery(CompiledQuery.raw(EFFECT, [effect]))
}

/** Thrown if the connection broke. The result of the last statement is unknown. */
export class ConnectionLost extends Error {}

/** PostgreSQL's error for a conflict with another transaction. */
class SerializationFailure extends Error {
  readonly code = '40001'
  override readonly message = 'could not serialize access'
}

/** One of a process's connections. It gets another session if a crash interrupts its statement or transaction. */
type Line = {
  session: Session
  isBusy: boolean
  inTransaction: boolean
  /** True if a crash interrupted it, until its session is replaced. */
  isDead: boolean
  hasWritten: boolean
  effects: Effect[]
}

export type Deps = {
  sessions: Sessions
  scheduler: Scheduler
  faults: Faults
  /** Waits for the process's turn. */
  gate(): Promise<void>
  /** Called after each commit that can break a promise. */
  afterCommit(): void
}

/** PostgreSQL's error code of a cancelled statement. Here only the scheduler cancels. */
const CANCELLED = '57014'

/** Connections per process. */
const LINES_PER_PROCESS = 4

/** Matches writes that can break a promise. Changes of a trade's due time, of leases and of event sequences cannot. */
const CHECKED =
  /^(with part|insert into "(ledger_entry|event|trade|deposit|trade_item)"|update "(trade|deposit|trade_item|account)" set (?!"due_at"))/

export type Connections = { db: Db; reset(): void; close(): void }

/** `reset` simulates the death of the process as the server sees it: its open transactions are rolled back. */
export async function openConnections(deps: Deps): Promise<Connections> {
  const lines = await Promise.all(Array.from({ length: LINES_PER_PROCESS }, () => openLine(deps.sessions)))
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
        line.isDead = deps.scheduler.abandon(line.session.pid) || line.inTransaction
        if (line.isDead) deps.scheduler.beforeNextStep(() => replaceSession(line, deps.sessions))
        line.isBusy = false
      }
    },
    close() {
      for (const { session, isBusy, inTransaction, isDead } of lines)
        deps.sessions.giveBack(session, { isClean: !isBusy && !inTransaction && !isDead })
    },
  }
}

async function openLine(sessions: Sessions): Promise<Line> {
  const session = await sessions.take()
  const idle = { isBusy: false, inTransaction: false, isDead: false, hasWritten: false }
  return { session, ...idle, effects: [] }
}

async function replaceSession(line: Line, sessions: Sessions): Promise<void> {
  await sessions.kill(line.session)
  Object.assign(line, await openLine(sessions))
}

function driverOf(deps: Deps, take: () => Promise<Line>, giveBack: (line: Line) => void): Driver {
  const { faults } = deps
  const lines = new WeakMap<DatabaseConnection, Line>()
  const lineOf = (connection: DatabaseConnection): Line => {
    const line = lines.get(connection)
    if (line === undefined) throw new Error('the connection is not from this driver')
    return line
  }
  return {
    init: async () => {},
    async acquireConnection() {
      const line = await take()
      const connection = connectionOf(deps, line)
      lines.set(connection, line)
      return connection
    },
    async beginTransaction(connection) {
      const line = lineOf(connection)
      await send(deps, line, { text: 'begin' })
      Object.assign(line, { inTransaction: true, hasWritten: false, effects: [] })
    },
    async commitTransaction(connection) {
      const line = lineOf(connection)
      await send(deps, line, { text: 'commit' })
      line.inTransaction = false
      for (const effect of line.effects) effect()
      if (line.hasWritten) deps.afterCommit()
      if (faults.strike('commit without an answer', 0.002)) throw new ConnectionLost('after a commit')
    },
    async rollbackTransaction(connection) {
      const line = lineOf(connection)
      if (!line.inTransaction) return
      await send(deps, line, { text: 'rollback' })
      line.inTransaction = false
    },
    releaseConnection: async (connection) => giveBack(lineOf(connection)),
    destroy: async () => {},
  }
}

function connectionOf(deps: Deps, line: Line): DatabaseConnection {
  return {
    async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
      line.effects.push(...parameters.filter((effect): effect is Effect => typeof effect === 'function'))
      if (sql === EFFECT) return { rows: [] }
      if (line.inTransaction && deps.faults.strike('serialization failure', 0.001)) {
        throw new SerializationFailure()
      }
      const values = parameters.map((value) => (typeof value === 'function' ? null : value))
      const { rows, rowCount, command } = await send(deps, line, { text: sql, parameters: values })
      if (!CHECKED.test(sql) && command === 'SELECT') return { rows }
      if (!CHECKED.test(sql)) return { rows, numAffectedRows: BigInt(rowCount ?? 0) }
      line.hasWritten = true
      if (!line.inTransaction) deps.afterCommit()
      return { rows, numAffectedRows: BigInt(rowCount ?? 0) }
    },
    // biome-ignore lint/correctness/useYield: the till never streams
    async *streamQuery() {
      throw new Error('not part of the simulation')
    },
  }
}

type Query = { text: string; parameters?: readonly unknown[] }

/** Sends a statement to the server at the process's turn. Resolves when the scheduler passes its result on. */
async function send(deps: Deps, line: Line, { text, parameters = [] }: Query) {
  await deps.gate()
  const { name, mayWait } = statementOf(text)
  const endsTransaction = text === 'commit' || text === 'rollback'
  const { session } = line
  const flight = { pid: session.pid, mayWait, releases: endsTransaction || !line.inTransaction }
  const start = () => session.client.query({ name, text, values: [...parameters] })
  return deps.scheduler.execute(flight, start).catch((error: unknown) => {
    const wasCancelled = error instanceof pg.DatabaseError && error.code === CANCELLED
    throw wasCancelled ? new SerializationFailure() : error
  })
}

type Statement = { name: string; mayWait: boolean }

const statements = new Map<string, Statement>()

/** Matches statements that never wait for a lock. */
const NEVER_WAITS = /^(begin|select|rollback)\b(?!.*(for (no key )?update|for share|advisory))/s

/** Names the statement, so each connection plans it only once, which saves time over thousands of runs. */
function statementOf(text: string): Statement {
  const known = statements.get(text)
  if (known !== undefined) return known
  const added = { name: `s${statements.size}`, mayWait: !NEVER_WAITS.test(text) }
  statements.set(text, added)
  return added
}
