/**
 * Runs `deploy/install.sh` in a folder that stands for the root of a machine. Programs that change a machine, such as
 * systemctl, only record how they were called. The first test uses a real PostgreSQL and the real `tradetill`.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  appendFileSync,
  chmodSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Embedded, startEmbedded } from '../../embedded-postgres/embedded.ts'
import { createLog } from '../../gateway/kit/log.ts'
import {
  aMachine,
  aMachineWithSettings,
  changes,
  install,
  REAL_COMMAND,
  REQUIRED_OPTIONS,
  unpack,
} from './machine.ts'

let folder: string
let server: Embedded

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tradetill-install-server-'))
  // If this process is root, PostgreSQL runs as another account, which must be able to enter.
  chmodSync(folder, 0o711)
  server = await startEmbedded({ dataDir: folder, log: createLog({ level: 'error' }), fsync: false })
  // The embedded server already has a role and a database with these names.
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

describe('install.sh on an empty machine', () => {
  it('sets up the database, the settings, the units and the proxy, and starts the services, even after a stopped run', async () => {
    const machine = aMachine(serverUrl())
    const { root, read, calls, port } = machine
    writeFileSync(join(root, 'etc/caddy/Caddyfile'), 'of the package\n')
    // The package manager lists its own file with this checksum, so the script may replace the file.
    const sum = execFileSync('md5sum', [join(root, 'etc/caddy/Caddyfile')], { encoding: 'utf8' }).slice(0, 32)
    writeFileSync(join(root, 'conffiles'), ` /etc/caddy/Caddyfile ${sum}\n`)
    const release = unpack(machine, 'tradetill-1', { 'bin/tradetill': REAL_COMMAND })
    // The first run stops right after the master key is made, the second one later.
    const firstRunMark = join(root, 'is-first')
    writeFileSync(firstRunMark, '')
    const openssl = readlinkSync(join(root, 'bin/openssl'))
    rmSync(join(root, 'bin/openssl'))
    machine.writeProgram(
      'openssl',
      `${openssl} "$@"\n[ "$2" = -base64 ] && [ -e ${firstRunMark} ] && rm ${firstRunMark} && exit 1\nexit 0`,
    )
    expect(install(machine, release, REQUIRED_OPTIONS)).toMatchObject({ status: 1 })
    machine.failNextCall('daemon-reload')
    expect(install(machine, release, REQUIRED_OPTIONS)).toMatchObject({ status: 1 })
    const { status, output, errors } = install(machine, release, REQUIRED_OPTIONS)
    // The doctor's last line. The two problems: the public address does not exist, and the database is not migrated,
    // because no gateway really started.
    expect({ status, errors }).toEqual({ status: 0, errors: '2 to fix.\n' })

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
      'systemctl daemon-reload', // failed
      'systemctl daemon-reload',
      'systemctl enable --now tradetill',
      'systemctl enable --now tradetill-backup.timer',
      'systemctl start tradetill-backup',
      'systemctl reload-or-restart caddy',
    ])
    // Lines of the doctor. `database.version` is the version of PostgreSQL.
    expect(output).toMatch(/good +settings: all are valid/)
    expect(output).toMatch(/good +database\.version: /)
    expect(output).toMatch(/not checked +clock\.steam: .*out of reach in a test/)
    expect(output).toContain('tradetill-1 is installed. docs/going-live.md continues with the bot.\n')
    expect(output).toContain('- keep a copy of ')
  })

  it('with --check, prints what it would do, and changes nothing', () => {
    const machine = aMachine()
    const release = unpack(machine, 'tradetill-1')
    // No PostgreSQL runs.
    machine.writeProgram('pg_lsclusters', 'exit 1')
    const before = globSync('**/*', { cwd: machine.root })
    const { status, output } = install(machine, release, [...REQUIRED_OPTIONS, '--check'])
    expect({ status, end: output.trim().split('\n').at(-1) }).toEqual({
      status: 0,
      end: 'Nothing was changed.',
    })
    expect(output).toContain('would  make the roles, the database, the master key')
    expect(output).not.toMatch(/^now /m)
    expect(globSync('**/*', { cwd: machine.root }).filter((name) => name !== 'calls')).toEqual(before)
    expect(changes(machine.calls())).toEqual([])
  })

  it.each([
    ['a missing host name', ['--mail', 'ada@till.invalid'], 'Give --host a value of your own'],
    ['the host name of the example', ['--host', 'pay.example', '--mail', 'a@b.c'], 'Give --host a value'],
    ['a host name with a slash', ['--host', 'https://a.b', '--mail', 'a@b.c'], '--host has a character'],
    [
      'one name for the till and its console',
      [...REQUIRED_OPTIONS, '--console', 'pay.till.invalid'],
      'a host name of its own',
    ],
    ['an unknown option', ['--hosts', 'a.b'], 'usage: sh'],
  ])('refuses %s', (_, args, message) => {
    const machine = aMachine()
    const { status, errors } = install(machine, unpack(machine, 'tradetill-1'), args)
    expect(status).not.toBe(0)
    expect(errors).toContain(message)
    expect(changes(machine.calls())).toEqual([])
  })

  it('refuses a changed release, a release outside /opt, a user other than root, and a busy port', () => {
    const machine = aMachine()
    const release = unpack(machine, 'tradetill-1')
    appendFileSync(join(release, '.env.example'), '\n')
    expect(install(machine, release, REQUIRED_OPTIONS).errors).toContain('unpack it again')
    const outside = unpack(machine, '../tradetill-2')
    expect(install(machine, outside, REQUIRED_OPTIONS).errors).toContain('Unpack the release in /opt')
    const unchanged = unpack(machine, 'tradetill-3')
    machine.writeProgram('id', 'echo 1000')
    expect(install(machine, unchanged, REQUIRED_OPTIONS).errors).toContain('Run this as root')
    machine.writeProgram('id', 'echo 0')
    machine.writeProgram('ss', 'echo LISTEN')
    rmSync(join(machine.root, 'bin/caddy'))
    expect(install(machine, unchanged, REQUIRED_OPTIONS).errors).toContain(
      'Something listens on port 80 or 443',
    )
    expect(changes(machine.calls())).toEqual([])
  })
})

describe('install.sh, run again,', () => {
  it('needs no options, and changes nothing', () => {
    const machine = aMachineWithSettings()
    const release = unpack(machine, 'tradetill-1')
    expect(install(machine, release, REQUIRED_OPTIONS)).toMatchObject({ status: 0, errors: '' })
    // The first backup, which the first run would have started.
    mkdirSync(join(machine.root, 'var/backups/tradetill'), { recursive: true })
    writeFileSync(join(machine.root, 'var/backups/tradetill/tradetill-1.dump'), '')
    rmSync(join(machine.root, 'calls'))
    const { status, output, errors } = install(machine, release, [])
    expect({ status, errors }).toEqual({ status: 0, errors: '' })
    expect(output.match(/^(?:now|YOU).*$/gm)).toEqual([
      'now    wait for https://pay.till.invalid/help, two minutes at most',
    ])
    expect(changes(machine.calls())).toEqual([])
  })

  it('keeps a file that the operator changed and a setting that an option contradicts, and names both', () => {
    const machine = aMachineWithSettings()
    const { root, read } = machine
    const release = unpack(machine, 'tradetill-1')
    install(machine, release, REQUIRED_OPTIONS)
    appendFileSync(join(root, 'etc/systemd/system/tradetill.service'), '# mine\n')
    appendFileSync(join(root, 'etc/caddy/Caddyfile'), '# mine\n')
    const { status, output } = install(machine, release, [])
    expect(status).toBe(0)
    expect(read('etc/systemd/system/tradetill.service')).toMatch(/# mine\n$/)
    expect(read('etc/caddy/Caddyfile')).toMatch(/# mine\n$/)
    expect(read('etc/systemd/system/tradetill.service.new')).toBe(
      read('opt/tradetill-1/deploy/tradetill.service'),
    )
    expect(output).toMatch(/Left for you:\n- .*tradetill\.service was changed[\s\S]*Caddyfile was changed/)

    const contradicted = install(machine, release, ['--host', 'other.till.invalid'])
    expect(contradicted).toMatchObject({
      status: 1,
      errors: expect.stringContaining('says pay.till.invalid'),
    })
    expect(parseEnv(read('etc/tradetill/env'))).toMatchObject({
      TRADETILL_PUBLIC_URL: 'https://pay.till.invalid',
    })
  })

  it('adds the console under its own host name, and keeps the addresses that may open the console', () => {
    const machine = aMachineWithSettings()
    const { read } = machine
    const release = unpack(machine, 'tradetill-1')
    install(machine, release, REQUIRED_OPTIONS)
    const office = ['--console', 'ops.till.invalid', '--console-from', '198.51.100.0/24']
    expect(install(machine, release, office)).toMatchObject({ status: 0, errors: '' })
    expect(parseEnv(read('etc/tradetill/env'))).toMatchObject({
      TRADETILL_CONSOLE_PORT: '4304',
      TRADETILL_CONSOLE_URL: 'https://ops.till.invalid',
    })
    expect(machine.calls()).toContain('systemctl restart tradetill')
    const written = read('etc/caddy/Caddyfile')
    expect(written).toContain('\nops.till.invalid {\n\t@stranger not remote_ip 198.51.100.0/24\n')
    expect(install(machine, release, [])).toMatchObject({ status: 0, errors: '' })
    expect(read('etc/caddy/Caddyfile')).toBe(written)
  })
})

describe('Node', () => {
  const FILE = `node-v24.9.9-linux-${process.arch}.tar.xz`
  const SUM = createHash('sha256').update('node\n').digest('hex')
  const fakeCurl = (sum: string) =>
    `case "$*" in *SHASUMS*) echo '${sum}  ${FILE}' > SHASUMS256.txt ;; *nodejs*) echo node > ${FILE} ;; esac`

  it.each([
    ['missing', undefined],
    ['too old', 'v22.1.0'],
  ])('is installed if it is %s, and only if its checksum is right', (_, version) => {
    const machine = aMachineWithSettings()
    const { root, recordCall } = machine
    const release = unpack(machine, 'tradetill-1')
    rmSync(join(root, 'usr/local/bin/node'))
    if (version !== undefined)
      writeFileSync(join(root, 'usr/local/bin/node'), `#!/bin/sh\necho ${version}\n`, { mode: 0o755 })
    machine.writeProgram('tar', recordCall)
    machine.writeProgram('curl', fakeCurl('0'.repeat(64)))
    expect(install(machine, release, REQUIRED_OPTIONS)).toMatchObject({ status: 1 })
    expect(machine.calls()).toEqual([])
    machine.writeProgram('curl', `echo "$*" >> ${root}/downloads\n${fakeCurl(SUM)}`)
    expect(install(machine, release, REQUIRED_OPTIONS)).toMatchObject({ status: 0 })
    expect(machine.calls()[0]).toBe(
      `tar -xJf ${FILE} -C ${root}/usr/local --strip-components=1 --no-same-owner`,
    )
    const downloads = machine.read('downloads').split('\n').slice(0, 2)
    for (const call of downloads) expect(call).toMatch(/--connect-timeout \d+ .*--speed-time \d+ https:/)
  })

  it('needs xz: apt-get installs it, and may wait up to 300 s for another apt', () => {
    const machine = aMachineWithSettings()
    rmSync(join(machine.root, 'bin/xz'))
    expect(install(machine, unpack(machine, 'tradetill-1'), REQUIRED_OPTIONS)).toMatchObject({ status: 0 })
    const calls = machine.calls().filter((call) => call.startsWith('apt-get'))
    expect(calls).toEqual([
      'apt-get -o DPkg::Lock::Timeout=300 update -qq',
      'apt-get -o DPkg::Lock::Timeout=300 install --yes -qq xz-utils',
    ])
  })
})
