/** The doctor's queries to a database. They change nothing in it, and work before any migration has run. */

import { type Connection, createConnectionGroup, KEEP_ALIVE } from '../db/connections.ts'
import { readIdentity } from '../db/identity.ts'
import { readApplied } from '../db/schema-version.ts'
import { sqlState } from '../db/sql-state.ts'
import { reasonOf } from '../kit/reason.ts'

const CONNECT_MS = 10_000
const STATEMENT_MS = 10_000
/** Longer than the server's own statement timeout, because the server's error says more than silence. */
const SILENCE_MS = 12_000

export type DatabaseProbe = {
  kind: 'answered'
  version: number
  role: string
  isSuperuser: boolean
  mayCreate: boolean
  /** Whether the role may read the table `till_identity`. True before any migration, when it does not exist. */
  mayRead: boolean
  inRecovery: boolean
  readOnly: boolean
  /** `real`: the server process of this connection. `named`: the id announced on connecting; a pooler invents one. */
  backend: { real: number; named: number }
  connections: { used: number; most: number }
  /**
   * The database's time, and the machine's at that moment, which is uncertain by `doubtMs`: half the query's duration.
   */
  databaseMs: number
  machineMs: number
  doubtMs: number
  sizeBytes: number
  /** The server's error if its disk is too full for a temporary file of 16 MB; otherwise undefined. */
  fullDisk: string | undefined
  identity: Awaited<ReturnType<typeof readIdentity>>
  applied: Awaited<ReturnType<typeof readApplied>>
}

export type DatabaseAnswer = DatabaseProbe | { kind: 'failed'; reason: string }

const FACTS = `select current_setting('server_version_num')::int as version, current_user as role,
  (select rolsuper from pg_roles where rolname = current_user) as is_superuser,
  has_database_privilege(current_database(), 'create') and has_schema_privilege('public', 'create') as may_create,
  coalesce(has_table_privilege(to_regclass('till_identity'), 'select'), true) as may_read,
  pg_is_in_recovery() as in_recovery, current_setting('transaction_read_only') = 'on' as read_only,
  pg_backend_pid() as backend,
  (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as used,
  current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as most,
  pg_database_size(current_database())::float8 as size_bytes`

const CLOCK = 'select extract(epoch from clock_timestamp())::float8 * 1000 as ms'

/** Sorts 16 MB with little memory, so the server writes them into a temporary file, which it deletes at once. */
const SPILL = "select count(distinct i || repeat('x', 8000)) from generate_series(1, 2000) i"

/** PostgreSQL's code for a full disk. */
const DISK_FULL = '53100'

/** Other errors prove nothing about the disk: the server may limit temporary files. */
async function findFullDisk(client: Connection): Promise<string | undefined> {
  await client.query("begin; set local work_mem = '64kB'")
  try {
    await client.query(SPILL)
    return undefined
  } catch (error) {
    return sqlState(error) === DISK_FULL ? reasonOf(error) : undefined
  } finally {
    await client.query('rollback')
  }
}

export async function probeDatabase(url: string, nowMs: () => number): Promise<DatabaseAnswer> {
  const Client = createConnectionGroup().clientWith(SILENCE_MS)
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_MS,
    statement_timeout: STATEMENT_MS,
    ...KEEP_ALIVE,
  })
  // A lost connection also rejects the query below. Without a listener, its event would end the process.
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query(FACTS)
    const begin = nowMs()
    const clock = await client.query<{ ms: number }>(CLOCK)
    const end = nowMs()
    const facts = rows[0]
    return {
      kind: 'answered',
      version: facts.version,
      role: facts.role,
      isSuperuser: facts.is_superuser,
      mayCreate: facts.may_create,
      mayRead: facts.may_read,
      inRecovery: facts.in_recovery,
      readOnly: facts.read_only,
      backend: { real: facts.backend, named: namedBackend(client) },
      connections: { used: facts.used, most: facts.most },
      databaseMs: clock.rows[0]?.ms ?? 0,
      machineMs: (begin + end) / 2,
      doubtMs: (end - begin) / 2,
      sizeBytes: facts.size_bytes,
      fullDisk: await findFullDisk(client),
      identity: facts.may_read ? await readIdentity(client) : undefined,
      applied: facts.may_read ? await readApplied(client) : [],
    }
  } catch (error) {
    return { kind: 'failed', reason: reasonOf(error) }
  } finally {
    client.cut()
  }
}

/** Reads a field of the driver that its types lack. */
function namedBackend(client: Connection): number {
  return 'processID' in client && typeof client.processID === 'number' ? client.processID : 0
}
