/**
 * A small process in its own session that runs the embedded PostgreSQL while its stdin is open. The gateway holds the
 * other end, so when the gateway ends, even by a kill, PostgreSQL and this process end too.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { waitForLock } from '../gateway/kit/lock.ts'
import { STOP_STEPS } from './stop-steps.ts'

/** The arguments of the process. It answers `ready` or `failed: <reason>` on stdout; stderr is PostgreSQL's log. */
export type SupervisorArguments = {
  postgres: string
  cluster: string
  port: number
  fsync: boolean
  /** The account that runs PostgreSQL, if it is not the current one. */
  account?: { uid: number; gid: number }
}

/** Uses no schema library, because one takes long to load. */
function argumentsFrom(args: string[]): SupervisorArguments {
  const text = { type: 'string', default: '' } as const
  const fsync = { type: 'boolean', default: true } as const
  const options = { postgres: text, cluster: text, port: text, fsync, uid: text, gid: text }
  const { values } = parseArgs({ args, options, allowNegative: true })
  const { postgres, cluster, port, uid, gid } = values
  const account = uid === '' ? undefined : { uid: Number(uid), gid: Number(gid) }
  return { postgres, cluster, port: Number(port), fsync: values.fsync, ...(account && { account }) }
}

/** How long to wait until the supervisor of an earlier gateway has ended, which may first have to stop PostgreSQL. */
const PREDECESSOR_MS = 15_000

async function supervise(args: SupervisorArguments): Promise<void> {
  const stdinClosed = new Promise<void>((resolve) => {
    process.stdin.on('end', resolve).on('close', resolve).on('error', resolve).resume()
    process.once('SIGTERM', resolve)
  })
  // The gateway can end before the last output is written.
  process.stdout.on('error', () => {})
  process.stderr.on('error', () => {})
  // Ctrl-C and a closed terminal must not end PostgreSQL before the gateway.
  for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => {})

  const lock = await waitForLock(`database ${args.cluster}`, PREDECESSOR_MS)
  if (lock === undefined) return say('failed: another process still runs the database of this folder')
  await stopLeftover(args.cluster)
  const postgres = startPostgres(args)
  const ended = new Promise<number | null>((resolve) => {
    postgres.once('error', () => resolve(null))
    postgres.once('exit', (code) => resolve(code))
  })
  const crash = await Promise.race([stdinClosed, ended.then((code) => ({ code }))])
  if (crash !== undefined) say(`failed: PostgreSQL ended with code ${crash.code}`)
  else await stopPostgres(postgres, ended)
  process.exit(crash === undefined ? 0 : 1)
}

function startPostgres({ postgres, cluster, port, fsync, account }: SupervisorArguments): ChildProcess {
  const settings = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    // Several gateways and commands can share the database; a gateway opens up to 22 connections.
    max_connections: '200',
    fsync: fsync ? 'on' : 'off',
    synchronous_commit: fsync ? 'on' : 'off',
    full_page_writes: fsync ? 'on' : 'off',
    shared_buffers: '64MB',
    log_min_messages: 'warning',
    // Keeps statements with their values out of the log.
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
  }
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const child = spawn(postgres, ['-D', cluster, ...options], {
    cwd: cluster,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { LC_ALL: 'C', TZ: 'UTC' },
    ...account,
  })
  createInterface({ input: child.stderr }).on('line', (line) => {
    if (line.includes('database system is ready to accept connections')) say('ready')
    else process.stderr.write(`${line}\n`)
  })
  return child
}

async function stopPostgres(postgres: ChildProcess, ended: Promise<unknown>): Promise<void> {
  for (const [signal, waitMs] of STOP_STEPS) {
    postgres.kill(signal)
    const hasStopped = await Promise.race([ended.then(() => true), delay(waitMs, false)])
    if (hasStopped) return
  }
}

/**
 * Stops the PostgreSQL that a killed supervisor left running, and waits until all its processes have ended, because a
 * new PostgreSQL refuses to start before that. The old one is known by its working folder, the cluster.
 */
async function stopLeftover(cluster: string): Promise<void> {
  const pid = leftoverOf(cluster)
  if (pid === undefined) return removeStaleLock(cluster)
  for (const [signal, waitMs] of STOP_STEPS) {
    // Once the server has ended, another process can get its number. The server's children end later.
    if (leftoverOf(cluster) === pid) signalTo(pid, signal)
    const endMs = performance.now() + waitMs
    while (serversIn(cluster).length > 0 && performance.now() < endMs) await delay(50)
    if (serversIn(cluster).length > 0) continue
    // A killed server leaves its lock file. PostgreSQL respects it as long as the system still lists the ended process.
    if (signal === 'SIGKILL') rmSync(lockFileOf(cluster), { force: true })
    return
  }
}

/**
 * Removes the lock file of a PostgreSQL that no longer runs, as after a power cut or the kill of a container. If another
 * program of the same account has its process number now, PostgreSQL would take that program for a server, and refuse
 * to start. The file stays if any PostgreSQL has the number, because `serversIn` can miss a server of this cluster: the
 * server may know the cluster by another path, as with a bind mount, or its folder cannot be read, as for root in a
 * container. On Windows the file always stays, because nothing here can tell which servers run.
 */
function removeStaleLock(cluster: string): void {
  const isKnown = process.platform !== 'win32' && !isPostgres(lockHolderOf(cluster))
  if (isKnown && serversIn(cluster).length === 0) rmSync(lockFileOf(cluster), { force: true })
}

const lockFileOf = (cluster: string): string => join(cluster, 'postmaster.pid')

/** The process number in the lock file; NaN without the file. */
function lockHolderOf(cluster: string): number {
  try {
    return Number(readFileSync(lockFileOf(cluster), 'utf8').split('\n')[0])
  } catch {
    return Number.NaN
  }
}

function signalTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // The process has just ended.
  }
}

function leftoverOf(cluster: string): number | undefined {
  const pid = lockHolderOf(cluster)
  return serversIn(cluster).find((server) => server === pid)
}

/** PostgreSQL's processes in the cluster. The children of a killed server outlive it for a moment. */
function serversIn(cluster: string): number[] {
  return existsSync('/proc/self/cwd') ? listedServers(cluster) : serversFromLsof(cluster)
}

const listedServers = (cluster: string): number[] =>
  readdirSync('/proc')
    .map(Number)
    .filter((pid) => {
      try {
        return pid > 0 && readlinkSync(`/proc/${pid}/cwd`) === cluster && isPostgres(pid)
      } catch {
        // The process has just ended, or belongs to another account.
        return false
      }
    })

function isPostgres(pid: number): boolean {
  if (!existsSync('/proc/self/comm'))
    return spawnSync('ps', ['-o', 'comm=', '-p', String(pid)], { encoding: 'utf8' })
      .stdout.trim()
      .endsWith('postgres')
  const file = `/proc/${pid}/comm`
  return existsSync(file) && readFileSync(file, 'utf8').trim() === 'postgres'
}

/** A Mac has no /proc. */
function serversFromLsof(cluster: string): number[] {
  const options = ['-w', '-a', '-c', 'postgres', '-d', 'cwd', '-Fn']
  const { stdout } = spawnSync('lsof', options, { encoding: 'utf8', env: { PATH: '/usr/sbin:/usr/bin' } })
  // The first line of a process is its number (p12). A later line is its folder (n/path).
  const processes = (stdout ?? '').split(/^p/m)
  return processes
    .filter((lines) => lines.includes(`\nn${cluster}\n`))
    .map((lines) => Number.parseInt(lines, 10))
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

await supervise(argumentsFrom(process.argv.slice(2)))
