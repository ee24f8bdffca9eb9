/**
 * A folder that stands for the root of a machine. Tools such as sed are the real ones. Programs that change a machine,
 * such as systemctl, are stubs that record how they were called.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import {
  appendFileSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
/** Appended to a release's stub command: runs the real one, which cannot reach Steam. */
export const REAL_COMMAND = `exec ${process.execPath} --import ${join(import.meta.dirname, 'without-steam.mjs')} ${join(ROOT, 'bin/tradetill.mjs')} "$@"\n`
export const REQUIRED_OPTIONS = ['--host', 'pay.till.invalid', '--mail', 'ada@till.invalid']

/** Programs of the test's machine that are used as they are. Besides these, only the stubs below can be found. */
const TOOLS =
  'sh sed grep awk cut cat cp cmp chmod mkdir mktemp rm ln ls readlink dirname basename touch openssl env uname sha256sum md5sum'

/** Stands for `runuser -u postgres -- psql` and `createdb`, on the real server. */
const RUNUSER = `import { readFileSync } from 'node:fs'
import pg from '${join(ROOT, 'node_modules/pg/esm/index.mjs')}'
const [, user, , program, ...args] = process.argv.slice(2)
if (user === 'postgres') {
  const client = new pg.Client({ connectionString: process.env.SERVER_URL })
  await client.connect()
  const statement = args.indexOf('-c') < 0 ? readFileSync(0, 'utf8') : args[args.indexOf('-c') + 1]
  const [, owner] = /--owner=(\\w+)/.exec(args.join(' ')) ?? []
  const sql = program === 'createdb' ? 'create database "' + args.at(-1) + '" owner ' + owner : statement
  const { rows } = await client.query(sql)
  for (const row of rows ?? []) console.log(Object.values(row).join('|'))
  await client.end()
}
`

/** A machine with nothing on it but programs. `unpack` adds a release. */
export function aMachine(serverUrl = 'postgres://nobody@127.0.0.1:9/none') {
  const root = mkdtempSync(join(tmpdir(), 'tradetill-install-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  for (const name of ['bin', 'opt', 'etc/systemd/system', 'etc/caddy', 'usr/local/bin', 'var/log'])
    mkdirSync(join(root, name), { recursive: true })
  const writeProgram = (name: string, body: string) =>
    writeFileSync(join(root, 'bin', name), `#!/bin/sh\n${body}\n`, { mode: 0o755 })
  for (const name of TOOLS.split(' ')) {
    const path = execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim()
    symlinkSync(path, join(root, 'bin', name))
  }
  const port = new URL(serverUrl).port
  const log = join(root, 'calls')
  const recordCall = `echo "$(basename "$0") $*" >> ${log}`
  for (const name of ['apt-get', 'caddy', 'journalctl', 'pg_dump', 'install', 'ss', 'curl', 'xz'])
    writeProgram(name, recordCall)
  // Fails once for the call that `failNextCall` has named.
  const failIfNamed = `grep -qxsF "$*" ${root}/fails && rm ${root}/fails && exit 1\nexit 0`
  // `enable --now` starts a unit, which then counts as running.
  writeProgram(
    'systemctl',
    `case $1 in is-active) test -e ${root}/runs-$3; exit ;; enable) touch ${root}/runs-$3 ;; esac\n${recordCall}\n${failIfNamed}`,
  )
  writeProgram('id', 'echo 0')
  // Report that the host name resolves, and that PostgreSQL runs.
  writeProgram('getent', 'echo 198.51.100.7 STREAM pay.till.invalid')
  writeProgram('pg_lsclusters', `echo '18 main ${port} online postgres /var/lib/postgresql'`)
  // Every file belongs to the package of Caddy. `conffiles` lists the package's own versions, by checksum.
  writeProgram('dpkg-query', `case $1 in --search) echo "caddy: $2" ;; *) cat ${root}/conffiles ;; esac`)
  writeProgram('runuser', `${recordCall}\nexec ${process.execPath} ${root}/runuser.mjs "$@"`)
  writeFileSync(join(root, 'runuser.mjs'), RUNUSER)
  writeFileSync(join(root, 'conffiles'), '')
  symlinkSync(process.execPath, join(root, 'usr/local/bin/node'))
  const read = (file: string): string => readFileSync(join(root, file), 'utf8')
  const calls = (): string[] => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [])
  const failNextCall = (call: string) => writeFileSync(join(root, 'fails'), call)
  return { root, writeProgram, failNextCall, recordCall, read, calls, port, serverUrl }
}

export type Machine = ReturnType<typeof aMachine>

/** Unpacks a release, with additional text in some of its files. Its command only records how it was called. */
export function unpack(
  { root, recordCall }: Machine,
  name: string,
  additions: Record<string, string> = {},
): string {
  const release = join(root, 'opt', name)
  mkdirSync(join(release, 'bin'), { recursive: true })
  cpSync(join(ROOT, 'deploy'), join(release, 'deploy'), { recursive: true })
  cpSync(join(ROOT, '.env.example'), join(release, '.env.example'))
  writeFileSync(join(release, 'bin/tradetill'), `#!/bin/sh\n${recordCall}\n`, { mode: 0o755 })
  for (const [file, text] of Object.entries(additions)) appendFileSync(join(release, file), text)
  const files = globSync('**/*', { cwd: release, withFileTypes: true }).filter((each) => each.isFile())
  const paths = files.map((each) => join(each.parentPath, each.name).slice(release.length + 1))
  const sums = execFileSync('sha256sum', [...paths, '.env.example'], { cwd: release })
  writeFileSync(join(release, 'SHA256SUMS'), sums)
  return release
}

export function install({ root, serverUrl }: Machine, release: string, args: readonly string[]) {
  const env = {
    PATH: join(root, 'bin'),
    DESTDIR: root,
    SERVER_URL: serverUrl,
    // The settings file has paths under /; these point into the test's root.
    DATABASE_URL_FILE: join(root, 'etc/tradetill/database_url'),
    TRADETILL_OWNER_DATABASE_URL_FILE: join(root, 'etc/tradetill/owner_database_url'),
    TRADETILL_MASTER_KEY_FILE: join(root, 'etc/tradetill/master.key'),
  }
  const script = join(release, 'deploy/install.sh')
  const { status, stdout, stderr } = spawnSync('sh', [script, ...args], { env, encoding: 'utf8' })
  return { status, output: stdout, errors: stderr }
}

/** A machine without PostgreSQL, where `install.sh` finds a settings file and a master key, so it makes no database. */
export function aMachineWithSettings() {
  const machine = aMachine()
  const place = join(machine.root, 'etc/tradetill')
  mkdirSync(place)
  cpSync(join(ROOT, '.env.example'), join(place, 'env'))
  writeFileSync(join(place, 'master.key'), 'made before')
  return machine
}

/** The calls of systemctl and apt-get, except `systemctl is-active`, which is not recorded. */
export const changes = (calls: readonly string[]) =>
  calls.filter((call) => /^(?:systemctl|apt-get) /.test(call))
