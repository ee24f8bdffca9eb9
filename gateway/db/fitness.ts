/** Checks at the start whether the till can work on a database server. A refusal says what to do. */
import { randomUUID } from 'node:crypto'
import { type Connection, createConnectionGroup, KEEP_ALIVE } from './connections.ts'
import { sqlState } from './sql-state.ts'

type Facts = {
  isReplica: boolean
  isReadOnly: boolean
  version: number
  versionName: string
  pid: number
}

const CONNECT_MS = 10_000
const STATEMENT_MS = 5_000
/** PostgreSQL 15, in the form of server_version_num. */
const OLDEST_VERSION = 150_000

/** Throws if the till cannot work on the server, with a message for the operator. `name`: the setting with this URL. */
export async function refuseUnfit(url: string, name = 'DATABASE_URL'): Promise<void> {
  const connect = () => connectTo(url, name)
  const connection = await connect()
  try {
    const facts = await factsOf(connection)
    const reason = reasonAgainst(facts, name)
    if (reason !== undefined) throw new Error(reason)
    // A server reports the id of the process behind the connection. A pooler in between invents one.
    if (facts.pid === processOf(connection)) return
    if (!(await keepsSessions(connection, connect))) throw new Error(poolerIn(name))
  } finally {
    connection.cut()
  }
}

async function connectTo(url: string, name: string): Promise<Connection> {
  const Client = createConnectionGroup().clientWith(STATEMENT_MS)
  const connection = new Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_MS,
    ...KEEP_ALIVE,
    // The gateway's connections use this option too, and a pooler may reject it.
    statement_timeout: STATEMENT_MS,
  })
  // The statements report a broken connection.
  connection.on('error', () => {})
  await connection.connect().catch((error: unknown) => {
    throw new Error(`The database cannot be reached: ${connectFailureOf(error)}. ${adviceFor(error, name)}`, {
      cause: error,
    })
  })
  return connection
}

/** A name with several addresses fails with an AggregateError, whose own message is empty. */
export function connectFailureOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message || sqlState(error) || error.name
}

function adviceFor(error: unknown, name: string): string {
  const code = sqlState(error)
  if (code === '57P03')
    return 'The server is starting, stopping or recovering. Start the gateway again in a moment.'
  if (code === '53300') {
    return 'Raise its max_connections, or close some of its connections: "Connections" in docs/scaling.md says how many a gateway needs.'
  }
  if (error instanceof Error && /startup parameter/.test(error.message)) return poolerIn(name)
  return `Check ${name}.`
}

async function factsOf(connection: Connection): Promise<Facts> {
  const { rows } = await connection.query<Facts>(
    `select pg_is_in_recovery() as "isReplica", current_setting('transaction_read_only') = 'on' as "isReadOnly",
       current_setting('server_version_num')::int as version, current_setting('server_version') as "versionName",
       pg_backend_pid() as pid`,
  )
  const [facts] = rows
  if (facts === undefined) throw new Error('the database returned no facts about itself')
  return facts
}

function reasonAgainst(
  { isReplica, isReadOnly, version, versionName }: Facts,
  name: string,
): string | undefined {
  if (isReplica) {
    return `${name} leads to a server that takes no writes: it is a replica, or still recovering. Set it to the primary, or promote this one.`
  }
  if (isReadOnly) {
    return `${name} leads to a database that takes no writes: default_transaction_read_only is on, for the database or for this role. Switch it off, or set ${name} to another database.`
  }
  if (version < OLDEST_VERSION) {
    return `${name} leads to PostgreSQL ${versionName}, and Tradetill needs version 15 or newer.`
  }
  return undefined
}

const processOf = (connection: Connection): unknown => Reflect.get(connection, 'processID')

/** Checks that a connection keeps its session while another connection is in a transaction. */
async function keepsSessions(connection: Connection, connect: () => Promise<Connection>): Promise<boolean> {
  const mark = randomUUID()
  await connection.query(`select set_config('tradetill.session', $1, false)`, [mark])
  const otherConnection = await connect()
  try {
    await otherConnection.query('begin')
    await otherConnection.query('select 1')
    const { rows } = await connection.query<{ found: string | null }>(
      `select current_setting('tradetill.session', true) as found`,
    )
    return rows[0]?.found === mark
  } catch {
    // If the pooler gives both connections the same session, one waits for the other until its deadline.
    return false
  } finally {
    otherConnection.cut()
  }
}

const poolerIn = (name: string): string =>
  `${name} leads to a pooler that does not keep a session for each connection, such as PgBouncer with pool_mode=transaction. The till needs settings, LISTEN and locks that stay with a connection: set ${name} to the server itself, or to a pooler in session mode that passes on all settings.`
