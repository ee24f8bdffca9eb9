import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process'
import { createHmac, randomBytes } from 'node:crypto'
import type { EventEmitter } from 'node:events'
import { chownSync, existsSync, readdirSync, realpathSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { promisify } from 'node:util'
import pg from 'pg'
import { z } from 'zod'
import {
  connectionFileOf,
  type EmbeddedAddresses,
  type GatewayAddresses,
} from '../gateway/db/connection-file.ts'
import { VAULT_ROLE } from '../gateway/db/roles.ts'
import { COMPILE_CACHE } from '../gateway/kit/compile-cache.ts'
import { freePort } from '../gateway/kit/free-port.ts'
import type { Log } from '../gateway/kit/log.ts'
import { makeFolder } from '../gateway/kit/make-folder.ts'
import { readTextFile } from '../gateway/kit/setting-file.ts'
import { binary, type PostgresFiles, preparePostgresFiles, writePrivate } from './postgres-files.ts'
import { markCopy, noteCopy } from './restored-copy.ts'
import { STOP_MS } from './stop-steps.ts'
import type { SupervisorArguments } from './supervisor.ts'

export type Embedded = {
  /** Address of the database for its owner. A secret, because it contains the password. */
  url: string
  /** The same address for the till's role, which owns nothing. */
  appUrl: string
  /** Resolves when PostgreSQL's supervisor has ended. */
  died: Promise<void>
  stop(): Promise<void>
}

export type EmbeddedOptions = {
  dataDir: string
  log: Log
  /** Addresses of the gateway. The command line reads them from `connection.json`. */
  addresses?: GatewayAddresses
  /** Off only for a database that is soon deleted, as in a test: a power cut could destroy it. */
  fsync?: boolean
}

const USER = 'tradetill'
const APP_USER = 'tradetill_app'
const VAULT_USER = VAULT_ROLE
const DATABASE = 'tradetill'
/**
 * How long a starting PostgreSQL may be silent. After a crash, PostgreSQL replays its log and reports progress every
 * ten seconds.
 */
const SILENCE_MS = 120_000
/** Below the ports that a system gives out itself, so no other program gets one by chance. */
const PORTS = { from: 15_000, until: 20_000 }

const secretSchema = z.object({ password: z.string() })

/**
 * Starts PostgreSQL from the installed packages, at a free port on loopback. The first run creates its cluster.
 * The command line reads the address from `connection.json` in the data folder. Throws with a readable reason.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const { dataDir, log, addresses, fsync = true } = options
  makeFolder(dataDir)
  const files = preparePostgresFiles(realpathSync(dataDir))
  const cluster = join(files.home, 'cluster')
  const secretFile = join(dataDir, 'database.json')
  const password = existsSync(cluster)
    ? readSecret(secretFile)
    : await createCluster({ files, cluster, secretFile, fsync })
  noteCopy(cluster)
  const port = await freePort(PORTS)
  const supervisor = launch({
    postgres: binary(files, 'postgres'),
    cluster,
    port,
    fsync,
    ...(files.account && { account: files.account }),
  })
  const ended = new Promise<void>((resolve) => supervisor.once('exit', () => resolve()))
  const logLine = (line: string) =>
    log[line.includes('LOG:  ') ? 'debug' : 'warn']({ part: 'postgres' }, line)
  createInterface({ input: supervisor.stderr }).on('line', logLine)
  await waitUntilReady(supervisor)
  const url = `postgres://${USER}:${password}@127.0.0.1:${port}`
  // The other roles have passwords derived from the owner's, so no further file is needed.
  const passwordOf = (user: string) => createHmac('sha256', password).update(user).digest('hex')
  const [appPassword, vaultPassword] = [passwordOf(APP_USER), passwordOf(VAULT_USER)]
  const connectionFile = connectionFileOf(dataDir)
  const stop = async () => {
    rmSync(connectionFile, { force: true })
    supervisor.stdin.end()
    const timer = AbortSignal.timeout(STOP_MS)
    await Promise.race([ended, new Promise((resolve) => timer.addEventListener('abort', resolve))])
  }
  try {
    await ensureDatabase(`${url}/postgres`, [
      { user: APP_USER, password: appPassword },
      { user: VAULT_USER, password: vaultPassword },
    ])
    await markCopy(cluster, `${url}/${DATABASE}`)
  } catch (error) {
    await stop()
    throw isWrongPassword(error) ? wrongPassword({ cluster, secretFile, other: files.otherCluster }) : error
  }
  const appUrl = `postgres://${APP_USER}:${appPassword}@127.0.0.1:${port}/${DATABASE}`
  const vaultUrl = `postgres://${VAULT_USER}:${vaultPassword}@127.0.0.1:${port}/${DATABASE}`
  const connection: EmbeddedAddresses = {
    url: appUrl,
    ownerUrl: `${url}/${DATABASE}`,
    vaultUrl,
    ...addresses,
  }
  writePrivate(connectionFile, JSON.stringify(connection))
  return { url: `${url}/${DATABASE}`, appUrl, died: ended, stop }
}

type NewCluster = { files: PostgresFiles; cluster: string; secretFile: string; fsync: boolean }

/** The beginning of the names of clusters that are not complete. */
const UNFINISHED = 'cluster.new'

/**
 * Creates the cluster in another folder, and moves it to its place when complete, so a killed start leaves no
 * incomplete cluster. It can leave an initdb that still runs, so each start has a folder of its own.
 */
async function createCluster({ files, cluster, secretFile, fsync }: NewCluster): Promise<string> {
  const password = randomBytes(24).toString('hex')
  const unfinished = join(files.home, `${UNFINISHED}-${randomBytes(6).toString('hex')}`)
  const passwordFile = join(files.home, 'password.new')
  removeUnfinished(files.home)
  writePrivate(passwordFile, password)
  if (files.account) chownSync(passwordFile, files.account.uid, files.account.gid)
  const options = ['--auth=scram-sha-256', '--encoding=UTF8', '--locale=C', '--no-instructions']
  const locale = ['--locale-provider=builtin', '--builtin-locale=C.UTF-8']
  const sync = fsync ? [] : ['--no-sync']
  await promisify(execFile)(
    binary(files, 'initdb'),
    ['-D', unfinished, '-U', USER, `--pwfile=${passwordFile}`, ...options, ...locale, ...sync],
    { cwd: files.home, env: { LC_ALL: 'C', TZ: 'UTC' }, ...files.account },
  )
  rmSync(passwordFile, { force: true })
  writePrivate(secretFile, JSON.stringify({ password }))
  renameSync(unfinished, cluster)
  removeUnfinished(files.home)
  return password
}

function removeUnfinished(home: string): void {
  for (const name of readdirSync(home).filter((each) => each.startsWith(UNFINISHED))) {
    try {
      rmSync(join(home, name), { recursive: true, force: true })
    } catch {
      // The initdb of a killed start wrote at the same moment. It ends, because its files are missing.
    }
  }
}

/** Throws without the password, because a new database must not replace one that holds money. */
function readSecret(file: string): string {
  const answer = readTextFile(file)
  const password = answer.kind === 'text' ? passwordIn(answer.text) : undefined
  if (password !== undefined) return password
  const problem =
    answer.kind === 'text' ? 'damaged' : answer.code === 'ENOENT' ? 'gone' : `unreadable (${answer.code})`
  throw new Error(
    `The database exists, but the file with its password, ${file}, is ${problem}. Put it back from a backup.`,
  )
}

function passwordIn(text: string): string | undefined {
  try {
    return secretSchema.parse(JSON.parse(text)).password
  } catch {
    return undefined
  }
}

const isWrongPassword = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && error.code === '28P01'

type MismatchedPassword = { cluster: string; secretFile: string; other: string | undefined }

const wrongPassword = ({ cluster, secretFile, other }: MismatchedPassword): Error =>
  new Error(
    `The password in ${secretFile} is not that of the database in ${cluster}. ${
      other === undefined
        ? 'Put the file back from a backup.'
        : `There is another database in ${other}. If you need that one, move ${cluster} to another place and start again; if not, put the file back from a backup.`
    }`,
  )

type Supervisor = ChildProcessByStdio<Writable, Readable, Readable>

function launch({ postgres, cluster, port, fsync, account }: SupervisorArguments): Supervisor {
  const script = join(import.meta.dirname, 'supervisor.ts')
  const args = ['--postgres', postgres, '--cluster', cluster, '--port', String(port)]
  if (!fsync) args.push('--no-fsync')
  if (account !== undefined) args.push('--uid', String(account.uid), '--gid', String(account.gid))
  const child = spawn(process.execPath, [script, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    // Runs in its own session, because Ctrl-C in the terminal must reach only the gateway.
    detached: true,
    env: { NODE_COMPILE_CACHE: COMPILE_CACHE },
  })
  // A supervisor that has ended closes its end of the pipe, which is not an error here.
  child.stdin.on('error', () => {})
  return child
}

type Starting = EventEmitter & Pick<Supervisor, 'stdin' | 'stdout' | 'stderr'>

/** Rejects if the start fails or is silent for `SILENCE_MS`. No other limit applies, because a replay can take hours. */
export function waitUntilReady(supervisor: Starting): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (reason: string) => {
      clearTimeout(timer)
      supervisor.stdin.end()
      reject(new Error(`The embedded PostgreSQL did not start: ${reason}`))
    }
    const timer = setTimeout(() => fail(`it said nothing for ${SILENCE_MS / 1000} s`), SILENCE_MS)
    supervisor.once('exit', () => fail('its supervisor ended'))
    supervisor.once('error', (error: Error) => fail(error.message))
    supervisor.stderr.on('data', () => timer.refresh())
    createInterface({ input: supervisor.stdout }).on('line', (line) => {
      clearTimeout(timer)
      if (line === 'ready') resolve()
      else fail(line.replace(/^failed: /, ''))
    })
  })
}

type Role = { user: string; password: string }

/** Creates the till's database and the roles if they are missing, and sets the passwords of the roles. */
export async function ensureDatabase(url: string, roles: readonly Role[]): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  // A broken connection also rejects its query, so this event can be ignored.
  client.on('error', () => {})
  await client.connect()
  try {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [DATABASE])
    if (rowCount === 0) await client.query(`create database ${DATABASE}`)
    for (const { user, password } of roles) {
      const existing = await client.query('select from pg_roles where rolname = $1', [user])
      const verb = existing.rowCount === 0 ? 'create' : 'alter'
      await client.query(`${verb} role ${user} login password '${password}'`)
    }
  } finally {
    await client.end()
  }
}
