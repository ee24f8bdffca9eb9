/** PostgreSQL servers of the proof's own: one that is lost as a machine is, and a streaming copy that takes its place. */
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

/** The name under which the copy asks for the log. */
const COPY = 'copy'
/** Log that the copy may still want when it connects. */
const KEPT_LOG = '256MB'

export type Server = {
  /** As the owner of the server: a secret. */
  url: string
  dataDir: string
  stop(): Promise<void>
}

/** With every write on the disk before it is acknowledged, as in production. */
export async function startServer(dataDir: string): Promise<Server & Pick<Embedded, 'died'>> {
  mkdirSync(dataDir, { recursive: true, mode: 0o711 })
  const { url, stop, died } = await startEmbedded({ dataDir, log: createLog({ level: 'error' }) })
  return { url, dataDir, stop, died }
}

/** Ends all of its processes in the same moment: none says goodbye, and none finishes what it does. */
export function loseServer({ dataDir }: Pick<Server, 'dataDir'>): void {
  const { home } = preparePostgresFiles(realpathSync(dataDir))
  const postmaster = Number(readFileSync(join(home, 'cluster', 'postmaster.pid'), 'utf8').split('\n')[0])
  process.kill(postmaster, 'SIGSTOP')
  for (const pid of [...childrenOf(postmaster), postmaster]) endNow(pid)
}

function childrenOf(parent: number): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.map(Number).filter((pid) => parentOf(pid) === parent)
}

function parentOf(pid: number): number | undefined {
  try {
    // The name in brackets may hold anything; the parent is the second field after it.
    return Number(
      readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ')[1],
    )
  } catch {
    return undefined
  }
}

function endNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It ended on its own.
  }
}

export type Copy = Server & {
  /** Commits of the first server wait for this one from now on. */
  makeSynchronous(): Promise<void>
  /** Waits until it has all that is committed now, and cuts it off without a word: it gets nothing further. */
  cutOff(): Promise<void>
  /** Resolves when it takes writes. */
  promote(): Promise<void>
}

/** A copy of the running server in a folder of its own, which follows it. */
export async function startCopy(first: Server, dataDir: string): Promise<Copy> {
  await execute(first.url, `alter system set wal_keep_size = '${KEPT_LOG}'`, 'select pg_reload_conf()')
  const made = await copyEmbedded(
    { ownerUrl: first.url, dataDir: first.dataDir },
    `${dataDir}-made`,
    new Date(),
  )
  putBack(made.path, dataDir)
  rmSync(`${dataDir}-made`, { recursive: true, force: true })
  const proxy = await startSilentProxy(first.url)
  const [port = 0] = await freePorts(1)
  const server = follow(dataDir, proxy, port)
  // It must not outlive a proof that is ended in the middle.
  process.once('exit', () => server.kill('SIGKILL'))
  const url = new URL(first.url)
  url.port = String(port)
  await eventually('the copy follows', () => isFollowed(first.url, 'streaming', 'state'))
  return {
    url: url.href,
    dataDir,
    async makeSynchronous() {
      await execute(
        first.url,
        `alter system set synchronous_standby_names = '${COPY}'`,
        'select pg_reload_conf()',
      )
      await eventually('commits wait for the copy', () => isFollowed(first.url, 'sync', 'sync_state'))
    },
    async cutOff() {
      const [row] = await execute(first.url, 'select pg_current_wal_insert_lsn()::text as at')
      await eventually('the copy has all of it', async () => {
        const [has] = await execute(url.href, `select pg_last_wal_replay_lsn() >= '${row?.at}' as all`)
        return has?.all === true || undefined
      })
      proxy.swallow()
    },
    async promote() {
      await execute(url.href, 'select pg_promote(true, 120)')
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

/** Starts PostgreSQL on the copied folder as a standby. It reads the log of the first server through the proxy. */
function follow(dataDir: string, proxy: SilentProxy, port: number): ChildProcess {
  const files = preparePostgresFiles(realpathSync(dataDir))
  const cluster = join(files.home, 'cluster')
  const from = new URL(proxy.url)
  const source = `host=${from.hostname} port=${from.port} user=${from.username} password=${from.password}`
  rmSync(join(cluster, 'recovery.signal'))
  const signal = join(cluster, 'standby.signal')
  writeFileSync(signal, '', { mode: 0o644 })
  appendFileSync(
    join(cluster, 'postgresql.auto.conf'),
    `primary_conninfo = '${source} application_name=${COPY}'\n`,
  )
  const settings = [
    'listen_addresses=127.0.0.1',
    `port=${port}`,
    'unix_socket_directories=',
    'max_connections=200',
  ]
  return spawn(
    binary(files, 'postgres'),
    ['-D', cluster, ...[...settings, 'log_min_messages=fatal'].flatMap((setting) => ['-c', setting])],
    { cwd: cluster, stdio: 'ignore', env: { LC_ALL: 'C', TZ: 'UTC' }, ...files.account },
  )
}

async function isFollowed(
  url: string,
  value: string,
  column: 'state' | 'sync_state',
): Promise<true | undefined> {
  const rows = await execute(
    url,
    `select from pg_stat_replication where application_name = '${COPY}' and ${column} = '${value}'`,
  )
  return rows.length === 1 || undefined
}

/** Statements one after the other on a connection of their own. Resolves to the rows of the last. */
export async function execute(url: string, ...statements: string[]): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
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
