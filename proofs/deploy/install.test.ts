/**
 * Runs `deploy/install.sh` in a folder that stands for the root of a machine, with a real PostgreSQL and the real
 * commands. Programs that change a machine, such as systemctl, only record how they were called.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  appendFileSync,
  chmodSync,
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
import { parseEnv } from 'node:util'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type Embedded, startEmbedded } from '../../embedded-postgres/embedded.ts'
import { createLog } from '../../gateway/kit/log.ts'

const ROOT = join(import.meta.dirname, '../..')
/** Makes the command of a release real. */
const REAL = `exec ${process.execPath} ${join(ROOT, 'bin/tradetill.mjs')} "$@"\n`
const GIVEN = ['--host', 'pay.till.invalid', '--mail', 'ada@till.invalid']

let folder: string
let server: Embedded

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tradetill-install-server-'))
  // If this process is root, PostgreSQL runs as another account, which must be able to enter.
  chmodSync(folder, 0o711)
  server = await startEmbedded({ dataDir: folder, log: createLog({ level: 'error' }), fsync: false })
  // A server of the package has a role and a database of these names already.
  await onServer('alter role tradetill_app rename to other_app')
  await onServer('alter database tradetill rename to other')
})
afterAll(async () => {
  await server.stop()
  rmSync(folder, { recursive: true })
})

const serverUrl = (): string => Object.assign(new URL(server.url), { pathname: '/postgres' }).href

async function onServer(sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl() })
  await client.connect()
  await client.query(sql).finally(() => client.end())
}

/** Programs of the test's machine that are used as they are. No others can be found. */
const TOOLS =
  'sh sed grep awk cut cat cp cmp chmod mkdir mktemp rm ln ls readlink dirname basename touch openssl env uname sha256sum md5sum'

/** Stands for `runuser -u postgres -- psql` and `createdb`, on the real server. */
const RUNUSER = `import { readFileSync } from 'node:fs'
import pg from '${join(ROOT, 'node_modules/pg/esm/index.mjs')}'
const [, user, , program, ...args] = process.argv.slice(2)
if (user === 'postgres') {
  const client = new pg.Client({ connectionString: process.env.SERVER_URL })
  await client.connect()
  const asked = args.indexOf('-c') < 0 ? readFileSync(0, 'utf8') : args[args.indexOf('-c') + 1]
  const [, owner] = /--owner=(\\w+)/.exec(args.join(' ')) ?? []
  const sql = program === 'createdb' ? 'create database "' + args.at(-1) + '" owner ' + owner : asked
  const { rows } = await client.query(sql)
  for (const row of rows ?? []) console.log(Object.values(row).join('|'))
  await client.end()
}
`

/** A machine without anything but programs. \`machine.release(NAME)\` unpacks a release there. */
function aMachine() {
  const root = mkdtempSync(join(tmpdir(), 'tradetill-install-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  for (const name of ['bin', 'opt', 'etc/systemd/system', 'etc/caddy', 'usr/local/bin', 'var/log'])
    mkdirSync(join(root, name), { recursive: true })
  const program = (name: string, body: string) =>
    writeFileSync(join(root, 'bin', name), `#!/bin/sh\n${body}\n`, { mode: 0o755 })
  for (const name of TOOLS.split(' ')) {
    const found = execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim()
    symlinkSync(found, join(root, 'bin', name))
  }
  const port = new URL(server.url).port
  const log = join(root, 'calls')
  const recorded = `echo "$(basename "$0") $*" >> ${log}`
  for (const name of ['apt-get', 'caddy', 'journalctl', 'pg_dump', 'install', 'ss', 'curl', 'xz'])
    program(name, recorded)
  // A unit runs once it was started.
  program(
    'systemctl',
    `case $1 in is-active) test -e ${root}/runs-$3; exit ;; enable) touch ${root}/runs-$3 ;; esac\n${recorded}`,
  )
  program('id', 'echo 0')
  program('getent', 'echo 198.51.100.7 STREAM pay.till.invalid')
  program('pg_lsclusters', `echo '18 main ${port} online postgres /var/lib/postgresql'`)
  program('dpkg-query', `case $1 in --search) echo "caddy: $2" ;; *) cat ${root}/conffiles ;; esac`)
  program('runuser', `${recorded}\nexec ${process.execPath} ${root}/runuser.mjs "$@"`)
  writeFileSync(join(root, 'runuser.mjs'), RUNUSER)
  writeFileSync(join(root, 'conffiles'), '')
  symlinkSync(process.execPath, join(root, 'usr/local/bin/node'))
  const read = (file: string): string => readFileSync(join(root, file), 'utf8')
  const calls = (): string[] => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [])
  return { root, program, recorded, read, calls, port }
}

type Machine = ReturnType<typeof aMachine>

/** Unpacks a release, with additional text in some of its files. Its command only records how it was called. */
function unpack({ root, recorded }: Machine, name: string, more: Record<string, string> = {}): string {
  const release = join(root, 'opt', name)
  mkdirSync(join(release, 'bin'), { recursive: true })
  cpSync(join(ROOT, 'deploy'), join(release, 'deploy'), { recursive: true })
  cpSync(join(ROOT, '.env.example'), join(release, '.env.example'))
  writeFileSync(join(release, 'bin/tradetill'), `#!/bin/sh\n${recorded}\n`, { mode: 0o755 })
  for (const [file, text] of Object.entries(more)) appendFileSync(join(release, file), text)
  const files = globSync('**/*', { cwd: release, withFileTypes: true }).filter((each) => each.isFile())
  const paths = files.map((each) => join(each.parentPath, each.name).slice(release.length + 1))
  const sums = execFileSync('sha256sum', [...paths, '.env.example'], { cwd: release })
  writeFileSync(join(release, 'SHA256SUMS'), sums)
  return release
}

function install({ root }: Machine, release: string, args: readonly string[]) {
  const env = {
    PATH: join(root, 'bin'),
    DESTDIR: root,
    SERVER_URL: serverUrl(),
    // The settings name files of the real root.
    DATABASE_URL_FILE: join(root, 'etc/tradetill/database_url'),
    TRADETILL_OWNER_DATABASE_URL_FILE: join(root, 'etc/tradetill/owner_database_url'),
    TRADETILL_MASTER_KEY_FILE: join(root, 'etc/tradetill/master.key'),
  }
  const script = join(release, 'deploy/install.sh')
  const { status, stdout, stderr } = spawnSync('sh', [script, ...args], { env, encoding: 'utf8' })
  return { status, said: stdout, complained: stderr }
}

/** A machine on which the database was made before. */
function aMachineWithDatabase() {
  const machine = aMachine()
  const place = join(machine.root, 'etc/tradetill')
  mkdirSync(place)
  cpSync(join(ROOT, '.env.example'), join(place, 'env'))
  writeFileSync(join(place, 'master.key'), 'made before')
  return machine
}

const changes = (calls: readonly string[]) => calls.filter((call) => /^(?:systemctl|apt-get) /.test(call))

describe('on an empty machine', () => {
  it('makes the database, the settings, the units and the proxy, and starts them', async () => {
    const machine = aMachine()
    const { root, read, calls, port } = machine
    writeFileSync(join(root, 'etc/caddy/Caddyfile'), 'of the package\n')
    const sum = execFileSync('md5sum', [join(root, 'etc/caddy/Caddyfile')], { encoding: 'utf8' }).slice(0, 32)
    writeFileSync(join(root, 'conffiles'), ` /etc/caddy/Caddyfile ${sum}\n`)
    const release = unpack(machine, 'tradetill-1', { 'bin/tradetill': REAL })
    const { status, said, complained } = install(machine, release, GIVEN)
    // The doctor's last line: the public address does not exist, and nobody has migrated the database.
    expect({ status, complained }).toEqual({ status: 0, complained: '2 to mend.\n' })

    const address = read('etc/tradetill/database_url').trim()
    expect(address).toMatch(
      new RegExp(`^postgres://tradetill_app:[0-9a-f]{48}@127\\.0\\.0\\.1:${port}/tradetill$`),
    )
    const client = new pg.Client({ connectionString: address })
    await client.connect()
    const { rows } = await client.query('select current_user as role')
    await client.end()
    expect(rows).toEqual([{ role: 'tradetill_app' }])
    expect(parseEnv(read('etc/tradetill/env'))).toMatchObject({
      TRADETILL_PUBLIC_URL: 'https://pay.till.invalid',
      TRADETILL_SUPPORT_EMAIL: 'ada@till.invalid',
    })
    expect(read('opt/tradetill/deploy/install.sh')).toBe(read('opt/tradetill-1/deploy/install.sh'))
    for (const unit of ['tradetill.service', 'tradetill-backup.service', 'tradetill-backup.timer'])
      expect(read(`etc/systemd/system/${unit}`)).toBe(read(`opt/tradetill-1/deploy/${unit}`))
    expect(read('etc/caddy/Caddyfile')).toContain('\npay.till.invalid {\n')
    expect(read('etc/caddy/Caddyfile')).not.toContain('remote_ip')
    expect(changes(calls())).toEqual([
      'systemctl daemon-reload',
      'systemctl enable --now tradetill',
      'systemctl enable --now tradetill-backup.timer',
      'systemctl start tradetill-backup',
      'systemctl reload-or-restart caddy',
    ])
    // The doctor runs at the end, and the gateway that would migrate did not really start.
    expect(said).toMatch(/good +settings: all are valid/)
    expect(said).toMatch(/good +database\.version: /)
    expect(said).toContain('- keep a copy of ')
  })

  it('with --check, prints what it would do, and changes nothing', () => {
    const machine = aMachine()
    const release = unpack(machine, 'tradetill-1')
    machine.program('pg_lsclusters', 'exit 1')
    const before = globSync('**/*', { cwd: machine.root })
    const { status, said } = install(machine, release, [...GIVEN, '--check'])
    expect({ status, end: said.trim().split('\n').at(-1) }).toEqual({
      status: 0,
      end: 'Nothing was changed.',
    })
    expect(said).toContain('would  make the roles, the database, the master key')
    expect(said).not.toMatch(/^now /m)
    expect(globSync('**/*', { cwd: machine.root }).filter((name) => name !== 'calls')).toEqual(before)
    expect(changes(machine.calls())).toEqual([])
  })

  it.each([
    ['no host name', ['--mail', 'ada@till.invalid'], 'Give --host a value of yours'],
    ['the host name of the example', ['--host', 'pay.example', '--mail', 'a@b.c'], 'Give --host a value'],
    ['a host name with a slash', ['--host', 'https://a.b', '--mail', 'a@b.c'], '--host has a character'],
    [
      'one name for the till and its console',
      [...GIVEN, '--console', 'pay.till.invalid'],
      'another host name',
    ],
    ['an unknown option', ['--hosts', 'a.b'], 'usage: sh'],
  ])('refuses %s', (_, args, said) => {
    const machine = aMachine()
    const { status, complained } = install(machine, unpack(machine, 'tradetill-1'), args)
    expect(status).not.toBe(0)
    expect(complained).toContain(said)
    expect(changes(machine.calls())).toEqual([])
  })

  it('refuses a changed release, one outside /opt, another user than root, and a busy port', () => {
    const machine = aMachine()
    const release = unpack(machine, 'tradetill-1')
    appendFileSync(join(release, '.env.example'), '\n')
    expect(install(machine, release, GIVEN).complained).toContain('unpack it again')
    const outside = unpack(machine, '../tradetill-2')
    expect(install(machine, outside, GIVEN).complained).toContain('Unpack the release in /opt')
    const whole = unpack(machine, 'tradetill-3')
    machine.program('id', 'echo 1000')
    expect(install(machine, whole, GIVEN).complained).toContain('Run this as root')
    machine.program('id', 'echo 0')
    machine.program('ss', 'echo LISTEN')
    rmSync(join(machine.root, 'bin/caddy'))
    expect(install(machine, whole, GIVEN).complained).toContain('Something listens on port 80 or 443')
    expect(changes(machine.calls())).toEqual([])
  })
})

describe('run again', () => {
  it('needs no options, and does nothing', () => {
    const machine = aMachineWithDatabase()
    const release = unpack(machine, 'tradetill-1')
    expect(install(machine, release, GIVEN)).toMatchObject({ status: 0, complained: '' })
    mkdirSync(join(machine.root, 'var/backups/tradetill'), { recursive: true })
    writeFileSync(join(machine.root, 'var/backups/tradetill/tradetill-1.dump'), '')
    rmSync(join(machine.root, 'calls'))
    const { status, said, complained } = install(machine, release, [])
    expect({ status, complained }).toEqual({ status: 0, complained: '' })
    expect(said.match(/^(?:now|YOU).*$/gm)).toEqual([
      'now    wait for https://pay.till.invalid/help, a minute at most',
    ])
    expect(changes(machine.calls())).toEqual([])
  })

  it('does not replace a file or a setting that the operator changed, and names both', () => {
    const machine = aMachineWithDatabase()
    const { root, read } = machine
    const release = unpack(machine, 'tradetill-1')
    install(machine, release, GIVEN)
    appendFileSync(join(root, 'etc/systemd/system/tradetill.service'), '# mine\n')
    appendFileSync(join(root, 'etc/caddy/Caddyfile'), '# mine\n')
    const { status, said } = install(machine, release, [])
    expect(status).toBe(0)
    expect(read('etc/systemd/system/tradetill.service')).toMatch(/# mine\n$/)
    expect(read('etc/caddy/Caddyfile')).toMatch(/# mine\n$/)
    expect(read('etc/systemd/system/tradetill.service.new')).toBe(
      read('opt/tradetill-1/deploy/tradetill.service'),
    )
    expect(said).toMatch(/Left for you:\n- .*tradetill\.service was changed[\s\S]*Caddyfile was changed/)

    const other = install(machine, release, ['--host', 'other.till.invalid'])
    expect(other).toMatchObject({ status: 1, complained: expect.stringContaining('says pay.till.invalid') })
  })

  it('adds the console on its own name, and keeps the addresses that may open it', () => {
    const machine = aMachineWithDatabase()
    const { read } = machine
    const release = unpack(machine, 'tradetill-1')
    install(machine, release, GIVEN)
    const office = ['--console', 'ops.till.invalid', '--console-from', '198.51.100.0/24']
    expect(install(machine, release, office)).toMatchObject({ status: 0, complained: '' })
    expect(parseEnv(read('etc/tradetill/env'))).toMatchObject({
      TRADETILL_CONSOLE_PORT: '4304',
      TRADETILL_CONSOLE_URL: 'https://ops.till.invalid',
    })
    expect(machine.calls()).toContain('systemctl restart tradetill')
    const written = read('etc/caddy/Caddyfile')
    expect(written).toContain('\nops.till.invalid {\n\t@stranger not remote_ip 198.51.100.0/24\n')
    expect(install(machine, release, [])).toMatchObject({ status: 0, complained: '' })
    expect(read('etc/caddy/Caddyfile')).toBe(written)
  })
})

describe('without Caddy', () => {
  it('names the way to nginx once, remembers it, and later names what a release changes in its file', () => {
    const machine = aMachineWithDatabase()
    const { root } = machine
    rmSync(join(root, 'bin/caddy'))
    const first = install(machine, unpack(machine, 'tradetill-1'), [...GIVEN, '--without-proxy'])
    expect(first).toMatchObject({ status: 0, said: expect.stringContaining('- set up your own proxy') })
    mkdirSync(join(root, 'etc/nginx/conf.d'), { recursive: true })
    writeFileSync(join(root, 'etc/nginx/conf.d/tradetill.conf'), 'mine\n')
    const newer = unpack(machine, 'tradetill-2', { 'deploy/nginx.conf': '# newer\n' })
    const { status, said } = install(machine, newer, [])
    expect(status).toBe(0)
    expect(said).toMatch(/- make the changes of this release in .*: diff .*tradetill-1\/deploy\/nginx\.conf/)
    expect(install(machine, newer, []).said).not.toContain('Left for you')
  })
})

describe('Node', () => {
  const FILE = `node-v24.9.9-linux-${process.arch}.tar.xz`
  const SUM = createHash('sha256').update('node\n').digest('hex')
  const server = (sum: string) =>
    `case "$*" in *SHASUMS*) echo '${sum}  ${FILE}' > SHASUMS256.txt ;; *nodejs*) echo node > ${FILE} ;; esac`

  it('is installed if it is missing or too old, and only if its checksum is right', () => {
    const machine = aMachineWithDatabase()
    const { root, recorded } = machine
    const release = unpack(machine, 'tradetill-1')
    rmSync(join(root, 'usr/local/bin/node'))
    writeFileSync(join(root, 'usr/local/bin/node'), '#!/bin/sh\necho v22.1.0\n', { mode: 0o755 })
    machine.program('tar', recorded)
    machine.program('curl', server('0'.repeat(64)))
    expect(install(machine, release, GIVEN)).toMatchObject({ status: 1 })
    expect(machine.calls()).toEqual([])
    machine.program('curl', server(SUM))
    expect(install(machine, release, GIVEN)).toMatchObject({ status: 0 })
    expect(machine.calls()[0]).toBe(
      `tar -xJf ${FILE} -C ${root}/usr/local --strip-components=1 --no-same-owner`,
    )
  })
})

describe('from a newer release', () => {
  it('makes a backup, looks at the migrations, moves the link, and prints the way back', () => {
    const machine = aMachineWithDatabase()
    const { root, read, calls } = machine
    install(machine, unpack(machine, 'tradetill-1'), GIVEN)
    const newer = unpack(machine, 'tradetill-2', { 'deploy/tradetill.service': '# newer\n' })
    rmSync(join(root, 'calls'))
    const { status, said } = install(machine, newer, [])
    expect(status).toBe(0)
    const [backup, dryRun, ...rest] = calls().filter((call) => !/^(?:curl|caddy) /.test(call))
    expect(backup).toBe('systemctl start tradetill-backup')
    expect(dryRun).toMatch(/^tradetill --env-file .*env migrate run --dry-run$/)
    expect(rest).toContain('systemctl restart tradetill')
    expect(read('etc/systemd/system/tradetill.service')).toMatch(/# newer\n$/)
    expect(said).toContain(
      `the way back: ln -sfn ${join(root, 'opt/tradetill-1')} ${join(root, 'opt/tradetill')}`,
    )
  })

  it('leaves the running version alone if the backup or the look at the migrations fails', () => {
    const machine = aMachineWithDatabase()
    const older = unpack(machine, 'tradetill-1')
    install(machine, older, GIVEN)
    const newer = unpack(machine, 'tradetill-2', { 'bin/tradetill': 'exit 4\n' })
    rmSync(join(machine.root, 'calls'))
    expect(install(machine, newer, [])).toMatchObject({
      status: 4,
      complained: expect.stringContaining('Stopped'),
    })
    expect(execFileSync('readlink', [join(machine.root, 'opt/tradetill')], { encoding: 'utf8' }).trim()).toBe(
      older,
    )
    expect(machine.calls()).not.toContain('systemctl restart tradetill')
  })
})
