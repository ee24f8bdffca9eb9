/** Database sessions that all seeds share, because a new session would have to plan every statement again. */
import pg from 'pg'

export type Session = { client: pg.PoolClient; pid: number }

export type Sessions = {
  /** Takes a session for a simulated process. */
  take(): Promise<Session>
  /** Takes the session for the checks and for the simulation's own rows. */
  takeMonitor(): Promise<Session>
  /** `isClean`: no statement and no transaction is open in the session. Otherwise the session ends. */
  giveBack(session: Session, state: { isClean: boolean }): void
  /** Ends the session on the server, and waits until its locks are free. */
  kill(session: Session): Promise<void>
  /** For code that takes connections from a pool. */
  pool: pg.Pool
}

/** PostgreSQL's number of the type int8. */
const INT8_OID = 20

/**
 * Plans must not depend on how often a statement has run, because seeds share sessions. The scheduler resolves
 * deadlocks, because PostgreSQL would do it by the clock.
 */
const SETTINGS = `set plan_cache_mode = force_generic_plan; set deadlock_timeout = '1h'`

/**
 * The timeout breaks a cycle: a lock holder waits for the scheduler, which waits for the monitor, which waits for the
 * lock.
 */
const MONITOR_SETTINGS = `${SETTINGS}; set lock_timeout = '5min'`

/** How long a killed session may take to end. */
const MOST_ENDING_MS = 300_000

export function openSessions(url: string): Sessions {
  // Two gateways take 8 of these sessions, and a vault 4. The others are for kills and for reads by the checks.
  const pool = openPool(url, 16)
  const monitors = openPool(url, 1)
  return {
    take: () => takeFrom(pool, SETTINGS),
    takeMonitor: () => takeFrom(monitors, MONITOR_SETTINGS),
    giveBack: ({ client }, { isClean }) => client.release(!isClean),
    async kill(session) {
      const { client: killer } = await takeFrom(pool, SETTINGS)
      const { rows } = await killer.query<{ ended: boolean }>(
        'select pg_terminate_backend($1, $2) as ended',
        [session.pid, MOST_ENDING_MS],
      )
      if (rows[0]?.ended !== true) throw new Error(`session ${session.pid} did not end`)
      killer.release()
      session.client.release(true)
    },
    pool,
  }
}

function openPool(connectionString: string, max: number): pg.Pool {
  const getTypeParser = (oid: number) => (oid === INT8_OID ? BigInt : pg.types.getTypeParser(oid, 'text'))
  const options = { idleTimeoutMillis: 0, allowExitOnIdle: true }
  const pool = new pg.Pool({ connectionString, types: { getTypeParser }, max, ...options })
  // Ignored, because the statement of a killed session fails too.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

const pids = new WeakMap<pg.PoolClient, number>()

async function takeFrom(pool: pg.Pool, settings: string): Promise<Session> {
  const client = await pool.connect()
  const pid = pids.get(client) ?? (await setUp(client, settings))
  pids.set(client, pid)
  return { client, pid }
}

async function setUp(client: pg.PoolClient, settings: string): Promise<number> {
  await client.query(settings)
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  return rows[0]?.pid ?? 0
}
