/**
 * Finds and runs PostgreSQL's client programs, in the server's major version. Older programs refuse the server. Newer
 * ones may write dumps that the server cannot read.
 */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCACertificates } from 'node:tls'
import { promisify } from 'node:util'

export type ProgramName = 'pg_dump' | 'pg_restore'

export type Found = { kind: 'found'; path: string } | { kind: 'missing'; message: string }

const run = promisify(execFile)

/** The folders in which packages install the programs of a major version. */
const foldersOf = (major: number): string[] => [
  `/usr/lib/postgresql/${major}/bin`,
  `/usr/pgsql-${major}/bin`,
  `/usr/libexec/postgresql${major}`,
  `/opt/homebrew/opt/postgresql@${major}/bin`,
  `/usr/local/opt/postgresql@${major}/bin`,
  `C:\\Program Files\\PostgreSQL\\${major}\\bin`,
]

/** Searches `folder` alone if it is set; otherwise the PATH and the folders of packages. */
export async function findProgram(
  name: ProgramName,
  { major, folder }: { major: number; folder: string | undefined },
): Promise<Found> {
  const places =
    folder === undefined ? [name, ...foldersOf(major).map((each) => join(each, name))] : [join(folder, name)]
  const seen: string[] = []
  for (const path of places) {
    const version = await majorOf(path)
    if (version === major) return { kind: 'found', path }
    if (version !== undefined) seen.push(`${path} has version ${version}`)
  }
  return { kind: 'missing', message: [`${name} ${major} was not found`, ...seen].join('; ') + advice(major) }
}

async function majorOf(path: string): Promise<number | undefined> {
  try {
    const { stdout } = await run(path, ['--version'])
    const [, major] = /\(PostgreSQL\) (\d+)/.exec(stdout) ?? []
    return major === undefined ? undefined : Number(major)
  } catch {
    return undefined
  }
}

const advice = (major: number): string =>
  `. Debian and Ubuntu: postgresql-client-${major} (apt.postgresql.org has every version). Red Hat: postgresql${major} (yum.postgresql.org). macOS: brew install postgresql@${major}. Or set TRADETILL_POSTGRES_PROGRAMS to your own folder of programs.`

/** Returns a URL as variables for libpq, because everybody on the machine can see a process's arguments. */
export function libpqOf(url: string): Record<string, string> {
  const { hostname, port, username, password, pathname, searchParams } = new URL(url)
  const variableOf: Record<string, string> = {
    host: 'PGHOST',
    port: 'PGPORT',
    user: 'PGUSER',
    password: 'PGPASSWORD',
    dbname: 'PGDATABASE',
    sslmode: 'PGSSLMODE',
    sslrootcert: 'PGSSLROOTCERT',
    sslcert: 'PGSSLCERT',
    sslkey: 'PGSSLKEY',
    options: 'PGOPTIONS',
  }
  const variables: [string, string][] = [
    // An IPv6 address has brackets in a URL.
    ['PGHOST', decodeURIComponent(hostname).replace(/^\[(.*)\]$/, '$1')],
    ['PGPORT', port],
    ['PGUSER', decodeURIComponent(username)],
    ['PGPASSWORD', decodeURIComponent(password)],
    ['PGDATABASE', decodeURIComponent(pathname.slice(1))],
    ...[...searchParams].flatMap(([name, value]): [string, string][] =>
      variableOf[name] === undefined ? [] : [[variableOf[name], value]],
    ),
  ]
  return Object.fromEntries(variables.filter(([, value]) => value !== ''))
}

/** Thrown if a program ended with an exit code other than 0, but not if it could not be run or was killed. */
export class ProgramFailed extends Error {}

type RunOptions = { url?: string; environment: Record<string, string | undefined> }

/** Runs a program. Rejects with the last lines of its stderr, or if that is empty, with the error. */
export async function runProgram(
  path: string,
  args: readonly string[],
  { url, environment }: RunOptions,
): Promise<void> {
  const server = url === undefined ? {} : libpqOf(url)
  await withAuthorities({ ...environment, ...server }, async (env) => {
    const child = run(path, args, { env, maxBuffer: 64 * 1024 * 1024 })
    await child.catch((error: unknown) => {
      const output = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : ''
      const reason = output === '' ? String(error) : output
      const message = `${path} failed: ${reason.split('\n').slice(-3).join(' ')}`
      const hasEnded = error instanceof Error && 'code' in error && typeof error.code === 'number'
      throw new (hasEnded ? ProgramFailed : Error)(message, { cause: error })
    })
  })
}

type Variables = Record<string, string | undefined>

/**
 * Adds a file of the certificate authorities that Node trusts, if libpq must verify the server and no variable names a
 * file. The gateway verifies such a server with them, but libpq trusts no authority by default.
 */
async function withAuthorities(env: Variables, work: (env: Variables) => Promise<void>): Promise<void> {
  if (env.PGSSLMODE !== 'verify-full' || env.PGSSLROOTCERT !== undefined) return work(env)
  const folder = await mkdtemp(join(tmpdir(), 'tradetill-authorities-'))
  try {
    const PGSSLROOTCERT = join(folder, 'authorities.pem')
    await writeFile(PGSSLROOTCERT, getCACertificates('default').join('\n'))
    await work({ ...env, PGSSLROOTCERT })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
