/**
 * Watches whether the database answers. One connection queries it continually. If that connection falls silent, new
 * ones are tried. Unless the silent one answers after all, all connections of the process are then cut, so their
 * statements fail immediately and new connections replace them.
 */
import type { Log } from '../kit/log.ts'
import { pause, within } from '../kit/pause.ts'
import { type Connection, type ConnectionGroup, createConnectionGroup, KEEP_ALIVE } from './connections.ts'
import { sqlState } from './sql-state.ts'

export type Pulse = {
  /** False while calls should be refused immediately. */
  isHere(): boolean
  stop(): Promise<void>
}

type Pace = {
  /** Pause between two queries. */
  everyMs: number
  /** After this time without an answer, try a new connection. */
  silentMs: number
  /** Timeout of a new connection. */
  connectMs: number
  /** How long a connection attempt may go unanswered before the next one begins. */
  nextAttemptMs: number
  /** Pause before the next attempt while the database is out of reach. */
  againMs: number
}

/**
 * With these values the API answers within two seconds of the database's return. Apart from the time that a connection
 * takes, a silent replacement of the server is noticed within everyMs + silentMs + LATE_MS, and the return of a silent
 * server within nextAttemptMs.
 */
const PACE: Pace = { everyMs: 500, silentMs: 750, connectMs: 1_500, nextAttemptMs: 500, againMs: 250 }
/**
 * How much longer to wait for the old connection once a new one was tried. A database that is only slow answers the
 * older query first.
 */
const LATE_MS = 250
/** How many silent attempts show that the database, here until now, is gone and not only slow. */
const MOST_ATTEMPTS_HERE = 4
/** The most attempts of one round while the database is gone. If all stay silent, it is still gone. */
const MOST_ATTEMPTS_GONE = 20

type Options = { url: string; connections: ConnectionGroup; log: Log; pace?: Partial<Pace> }

/**
 * Result of a connection attempt: the server accepts writes, is a read-only replica, refuses, or is silent. `here`
 * without a connection: the server accepts no further connection.
 */
type State = 'here' | 'replica' | 'broken' | 'silent'
type Attempt = { kind: 'connected'; connection: Connection } | { kind: 'none'; state: State; reason: string }

/** Counts the database as here at first, because the caller has just reached it. */
export function startPulse({ url, connections, log, pace: paceChanges }: Options): Pulse {
  const pace = { ...PACE, ...paceChanges }
  const stopping = new AbortController()
  const ownConnections = createConnectionGroup()
  const open = createOpener(url, ownConnections, pace)
  let connection: Connection | undefined
  let isHere = true

  const lose = (reason: string) => {
    connection?.cut()
    connection = undefined
    const cut = connections.cut('all')
    if (isHere) log.error({ reason, cut }, 'database was out of reach')
    isHere = false
  }
  const adopt = (answering: Connection) => {
    connection = answering
    if (!isHere) {
      // Connections that were opened while the database was silent may hang.
      connections.cut('connecting')
      log.warn('database answered again')
    }
    isHere = true
  }
  const connect = async () => {
    const attempt = await open(isHere ? MOST_ATTEMPTS_HERE : MOST_ATTEMPTS_GONE, stopping.signal)
    // The server answers but accepts no further connection, so a broken connection is no reason to cut the others.
    return attempt.kind === 'none' && attempt.state === 'here' && isHere ? undefined : attempt
  }
  const reconnect = async () => {
    const attempt = await connect()
    if (attempt?.kind === 'connected') adopt(attempt.connection)
    else if (attempt !== undefined) lose(attempt.reason)
  }
  /** Tries a new connection, to decide whether the database is slow, gone or replaced. */
  const checkSilence = async (old: Promise<State>) => {
    const attempt = await connect()
    const isSlow = (await within(old, LATE_MS)) === 'here'
    if (isSlow) return attempt?.kind === 'connected' ? attempt.connection.cut() : undefined
    if (attempt?.kind !== 'connected') return lose(attempt?.reason ?? SILENT)
    connection?.cut()
    log.warn({ cut: connections.cut('all') }, 'connections to the database were silent and were replaced')
    adopt(attempt.connection)
  }
  const beat = async () => {
    if (connection === undefined) return reconnect()
    const answer = ask(connection)
    const state = await within(answer, pace.silentMs)
    if (state === undefined) return checkSilence(answer)
    if (state === 'replica') return lose(IS_REPLICA)
    if (state === 'here') return
    connection = undefined
    return reconnect()
  }
  const run = async () => {
    do await beat()
    while (await pause(isHere ? pace.everyMs : pace.againMs, stopping.signal))
    ownConnections.cut('all')
  }
  const running = run()
  return {
    isHere: () => isHere,
    async stop() {
      stopping.abort()
      ownConnections.cut('all')
      await running
    },
  }
}

function createOpener(
  url: string,
  ownConnections: ConnectionGroup,
  { silentMs, connectMs, nextAttemptMs }: Pace,
) {
  const Client = ownConnections.clientWith(silentMs + connectMs + LATE_MS)
  const config = { connectionString: url, application_name: 'tradetill-pulse', ...KEEP_ALIVE }
  const tryOne = () => tryConnection(new Client({ ...config, connectionTimeoutMillis: connectMs }))
  return (most: number, signal: AbortSignal): Promise<Attempt> =>
    soonest(tryOne, { everyMs: nextAttemptMs, most, signal })
}

const SILENT = 'it did not answer'
/** The message of `pg` for a connection that got no answer in time. */
const TIMED_OUT = 'timeout expired'
const IS_REPLICA = 'the server takes no writes: it is a replica, or still recovering'

type Trying = { everyMs: number; most: number; signal: AbortSignal }

/**
 * Returns the first attempt with a result, and cuts the others. An attempt that begins while the server is silent hangs
 * until it times out, so further attempts begin meanwhile. If `most` attempts stay silent, the result is silence.
 */
async function soonest(tryOne: () => Promise<Attempt>, { everyMs, most, signal }: Trying): Promise<Attempt> {
  const { promise: firstResult, resolve } = Promise.withResolvers<Attempt>()
  const attempts: Promise<void>[] = []
  let isOver = false
  const begin = () => {
    const attempt = tryOne().then((answer) => {
      if (answer.kind === 'connected' && isOver) return answer.connection.cut()
      if (answer.kind === 'none' && answer.state === 'silent') return
      isOver = true
      resolve(answer)
    })
    attempts.push(attempt)
  }
  do begin()
  while ((await within(firstResult, everyMs)) === undefined && attempts.length < most && !signal.aborted)
  const silent = Promise.all(attempts).then(
    () => ({ kind: 'none', state: 'silent', reason: SILENT }) as const,
  )
  return Promise.race([firstResult, silent])
}

/** Never rejects. */
async function ask(connection: Connection): Promise<State> {
  try {
    const { rows } = await connection.query<{ isReplica: boolean }>(
      'select pg_is_in_recovery() as "isReplica"',
    )
    return rows[0]?.isReplica === false ? 'here' : 'replica'
  } catch {
    return 'broken'
  }
}

async function tryConnection(connection: Connection): Promise<Attempt> {
  // A failed attempt rejects its promise; a broken connection fails its next query.
  connection.on('error', () => {})
  try {
    await connection.connect()
  } catch (error) {
    connection.cut()
    const isFull = sqlState(error)?.startsWith('53') === true
    const isSilent = error instanceof Error && error.message === TIMED_OUT
    return { kind: 'none', state: isFull ? 'here' : isSilent ? 'silent' : 'broken', reason: String(error) }
  }
  const state = await ask(connection)
  if (state === 'here') return { kind: 'connected', connection }
  connection.cut()
  return { kind: 'none', state, reason: state === 'replica' ? IS_REPLICA : SILENT }
}
