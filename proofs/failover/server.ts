/** PostgreSQL servers for the proof: a primary that can be killed in the middle of its work, and its standby. */
import { type ChildProcess, spawn } from 'node:child_process'
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { eventually, freePorts } from '../../e2e/support/process.ts'
import { type Embedded, startEmbedded } from '../../embedded-postgres/embedded.ts'
import { binary, preparePostgresFiles } from '../../embedded-postgres/postgres-files.ts'
import { putBack } from '../../embedded-postgres/put-back.ts'
import { copyEmbedded } from '../../gateway/backups/service.ts'
import { createLog } from '../../gateway/kit/log.ts'
import { type SilentProxy, startSilentProxy } from '../../gateway/testing/silent-proxy.ts'

/** The name under which the standby requests the write-ahead log. */
const STANDBY = 'standby'
/** How much write-ahead log to keep for the standby until it connects. */
const KEPT_LOG = '256MB'
/** How long a promotion may take. */
const PROMOTION_S = 120

export type Server = {
  /** The owner's URL, which is secret. */
  url: string
  dataDir: string
  stop(): Promise<void>
}

/** Starts a server that writes each commit to disk before it acknowledges it, as in production. */
export async function startServer(dataDir: string): Promise<Server & Pick<Embedded, 'died'>> {
  mkdirSync(dataDir, { recursive: true, mode: 0o711 })
  const { url, stop, died } = await startEmbedded({ dataDir, log: createLog({ level: 'error' }) })
  return { url, dataDir, stop, died }
}

/**
 * Kills all processes of the server at once, so none finishes its work. Unlike after a failure of the machine, the
 * kernel still closes their connections.
 */
export function crashServer({ dataDir }: Pick<Server, 'dataDir'>): void {
  const { home } = preparePostgresFiles(realpathSync(dataDir))
  const postmasterPid = Number(readFileSync(join(home, 'cluster', 'postmaster.pid'), 'utf8').split('\n')[0])
  process.kill(postmasterPid, 'SIGSTOP')
  for (const pid of [...childrenOf(postmasterPid), postmasterPid]) killNow(pid)
}

function childrenOf(parent: number): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.map(Number).filter((pid) => parentOf(pid) === parent)
}

function parentOf(pid: number): number | undefined {
  try {
    // The name in brackets may contain anything. The parent is the second field after it.
    return Number(
      readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ')[1],
    )
  } catch {
    // The process has just ended.
    return undefined
  }
}

function killNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has already ended.
  }
}

export type Standby = Server & {
  /** From now on, commits on the primary wait for this standby. */
  makeSynchronous(): Promise<void>
  /** Waits until the standby has everything that was committed so far, then cuts its connection silently. */
  cutOff(): Promise<void>
  /** Makes the standby a primary. Resolves once it accepts writes. */
  promote(): Promise<void>
}

/** Starts a standby in another folder. It follows the primary, which is running. */
export async function startStandby(primary: Server, dataDir: string): Promise<Standby> {
  await execute(primary.url, `alter system set wal_keep_size = '${KEPT_LOG}'`, 'select pg_reload_conf()')
  const backup = await copyEmbedded(
    { ownerUrl: primary.url, dataDir: primary.dataDir },
    `${dataDir}-backup`,
    new Date(),
  )
  await putBack(backup.path, dataDir)
  rmSync(`${dataDir}-backup`, { recursive: true, force: true })
  const proxy = await startSilentProxy(primary.url)
  const [port = 0] = await freePorts(1)
  const server = follow(dataDir, proxy, port)
  // The standby must end with the proof, even if the proof is interrupted.
  process.once('exit', () => server.kill('SIGKILL'))
  const url = new URL(primary.url)
  url.port = String(port)
  await eventually('the standby follows', () => standbyIs(primary.url, { state: 'streaming' }))
  return {
    url: url.href,
    dataDir,
    async makeSynchronous() {
      await execute(
        primary.url,
        `alter system set synchronous_standby_names = '${STANDBY}'`,
        'select pg_reload_conf()',
      )
      await eventually('commits wait for the standby', () => standbyIs(primary.url, { sync_state: 'sync' }))
    },
    async cutOff() {
      const [row] = await execute(primary.url, 'select pg_current_wal_insert_lsn()::text as at')
      await eventually('the standby has everything', async () => {
        const [replay] = await execute(
          url.href,
          `select pg_last_wal_replay_lsn() >= '${row?.at}' as "hasAll"`,
        )
        return replay?.hasAll === true || undefined
      })
      proxy.swallow()
    },
    async promote() {
      const [row] = await execute(url.href, `select pg_promote(true, ${PROMOTION_S}) as "isPrimary"`)
      if (row?.isPrimary !== true) throw new Error(`the standby was not promoted within ${PROMOTION_S} s`)
    },
    async stop() {
      server.kill('SIGINT')
      await new Promise((resolve) =>
        server.exitCode === null ? server.once('exit', resolve) : resolve(null),
      )
      await proxy.close()
    },
  }
}

/** Starts PostgreSQL on the restored folder as a standby that reads the primary's log through the proxy. */
function follow(dataDir: string, proxy: SilentProxy, port: number): ChildProcess {
  const files = preparePostgresFiles(realpathSync(dataDir))
  const cluster = join(files.home, 'cluster')
  const { hostname, port: proxyPort, username, password } = new URL(proxy.url)
  const source = `host=${hostname} port=${proxyPort} user=${username} password=${password}`
  rmSync(join(cluster, 'recovery.signal'))
  const signal = join(cluster, 'standby.signal')
  writeFileSync(signal, '', { mode: 0o644 })
  appendFileSync(
    join(cluster, 'postgresql.auto.conf'),
    `primary_conninfo = '${source} application_name=${STANDBY}'\n`,
  )
  const settings = [
    'log_min_messages=fatal',
    'listen_addresses=127.0.0.1',
    `port=${port}`,
    'unix_socket_directories=',
    'max_connections=200',
  ]
  return spawn(
    binary(files, 'postgres'),
    ['-D', cluster, ...settings.flatMap((setting) => ['-c', setting])],
    { cwd: cluster, stdio: 'ignore', env: { LC_ALL: 'C', TZ: 'UTC' }, ...files.account },
  )
}

/** Resolves to true if the primary sees its standby in this state, or else to undefined. */
async function standbyIs(
  primaryUrl: string,
  expected: { state: 'streaming' } | { sync_state: 'sync' },
): Promise<true | undefined> {
  const [row] = await execute(
    primaryUrl,
    `select state, sync_state from pg_stat_replication where application_name = '${STANDBY}'`,
  )
  return Object.entries(expected).every(([column, value]) => row?.[column] === value) || undefined
}

/** Runs the statements in order on a new connection. Resolves to the rows of the last one. */
export async function execute(url: string, ...statements: string[]): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  // A lost connection also fails the query, and that error is enough.
  client.on('error', () => {})
  await client.connect()
  try {
    let rows: Record<string, unknown>[] = []
    for (const statement of statements) ({ rows } = await client.query<Record<string, unknown>>(statement))
    return rows
  } finally {
    await client.end()
  }
}
