import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { aMachineWithSettings, install, type Machine, REQUIRED_OPTIONS, unpack } from './machine.ts'

describe('install.sh without Caddy', () => {
  it('asks the operator to set up a proxy and, after an upgrade, to make the release’s changes to nginx.conf', () => {
    const machine = aMachineWithSettings()
    const { root } = machine
    rmSync(join(root, 'bin/caddy'))
    const first = install(machine, unpack(machine, 'tradetill-1'), [...REQUIRED_OPTIONS, '--without-proxy'])
    expect(first).toMatchObject({ status: 0, output: expect.stringContaining('- set up your own proxy') })
    mkdirSync(join(root, 'etc/nginx/conf.d'), { recursive: true })
    writeFileSync(join(root, 'etc/nginx/conf.d/tradetill.conf'), 'mine\n')
    const newer = unpack(machine, 'tradetill-2', { 'deploy/nginx.conf': '# newer\n' })
    // If a run stops after it has pointed `opt/tradetill` to the newer release, the next run makes the comparison.
    machine.failNextCall('restart tradetill')
    expect(install(machine, newer, [])).toMatchObject({ status: 1 })
    const { status, output } = install(machine, newer, [])
    expect(status).toBe(0)
    expect(output).toMatch(
      /- make the changes of this release in .*: diff .*tradetill-1\/deploy\/nginx\.conf/,
    )
    expect(install(machine, newer, []).output).not.toContain('Left for you')
  })

  it('remembers that the operator uses another proxy', () => {
    const machine = aMachineWithSettings()
    rmSync(join(machine.root, 'bin/caddy'))
    expect(
      install(machine, unpack(machine, 'tradetill-1'), [...REQUIRED_OPTIONS, '--without-proxy']),
    ).toMatchObject({
      status: 0,
    })
    const { status, output } = install(machine, unpack(machine, 'tradetill-2'), [])
    expect({ status, leavesTasks: output.includes('Left for you') }).toEqual({
      status: 0,
      leavesTasks: false,
    })
    expect(machine.calls().join('\n')).not.toMatch(/apt-get|caddy/)
    expect(existsSync(join(machine.root, 'etc/caddy/Caddyfile'))).toBe(false)
  })
})

describe('install.sh from a newer release', () => {
  it('makes a backup, does a dry run of the migrations, points `opt/tradetill` to the release, and prints the way back', () => {
    const machine = aMachineWithSettings()
    const { root, read, calls } = machine
    install(machine, unpack(machine, 'tradetill-1'), REQUIRED_OPTIONS)
    const newer = unpack(machine, 'tradetill-2', { 'deploy/tradetill.service': '# newer\n' })
    rmSync(join(root, 'calls'))
    const { status, output } = install(machine, newer, [])
    expect(status).toBe(0)
    expect(output).toMatch(/^tradetill-2 is installed\.$/m)
    const [backup, dryRun, ...rest] = calls().filter((call) => !/^(?:curl|caddy) /.test(call))
    expect(backup).toBe('systemctl start tradetill-backup')
    expect(dryRun).toMatch(/^tradetill --env-file .*env migrate run --dry-run$/)
    expect(rest).toContain('systemctl restart tradetill')
    expect(linkedRelease(machine)).toBe(newer)
    expect(read('etc/systemd/system/tradetill.service')).toMatch(/# newer\n$/)
    expect(output).toContain(
      `the way back: ln -sfn ${join(root, 'opt/tradetill-1')} ${join(root, 'opt/tradetill')}`,
    )
  })

  it.each([
    ['the backup', 'start tradetill-backup', '', 1],
    ['the dry run of the migrations', '', 'exit 4\n', 4],
  ])('leaves the running version alone if %s fails', (_, failingCall, command, status) => {
    const machine = aMachineWithSettings()
    const older = unpack(machine, 'tradetill-1')
    install(machine, older, REQUIRED_OPTIONS)
    const newer = unpack(machine, 'tradetill-2', { 'bin/tradetill': command })
    if (failingCall !== '') machine.failNextCall(failingCall)
    rmSync(join(machine.root, 'calls'))
    expect(install(machine, newer, [])).toMatchObject({
      status,
      errors: expect.stringContaining('Stopped'),
    })
    expect(linkedRelease(machine)).toBe(older)
    expect(machine.calls()).not.toContain('systemctl restart tradetill')
  })

  it('restarts the vault and the receiver of alerts if they run, even if the previous run stopped early', () => {
    const machine = aMachineWithSettings()
    const units = ['tradetill-vault', 'tradetill-alerts']
    for (const unit of units) {
      const file = `etc/systemd/system/${unit}.service`
      cpSync(join(import.meta.dirname, '../../deploy', `${unit}.service`), join(machine.root, file))
      writeFileSync(join(machine.root, `runs-${unit}`), '')
    }
    install(machine, unpack(machine, 'tradetill-1'), REQUIRED_OPTIONS)
    rmSync(join(machine.root, 'calls'))
    expect(install(machine, unpack(machine, 'tradetill-2'), [])).toMatchObject({ status: 0 })
    expect(restarts(machine)).toEqual(['tradetill', ...units])
    const newer = unpack(machine, 'tradetill-3', { 'deploy/tradetill-alerts.service': '# newer\n' })
    machine.failNextCall('restart tradetill')
    expect(install(machine, newer, [])).toMatchObject({ status: 1 })
    rmSync(join(machine.root, 'calls'))
    expect(install(machine, newer, [])).toMatchObject({ status: 0 })
    expect(restarts(machine)).toEqual(['tradetill', ...units])
  })
})

/** The folder to which `opt/tradetill` points. */
const linkedRelease = ({ root }: Machine): string =>
  execFileSync('readlink', [join(root, 'opt/tradetill')], { encoding: 'utf8' }).trim()

const restarts = ({ calls }: Machine) =>
  calls().flatMap((call) => (call.startsWith('systemctl restart ') ? [call.split(' ')[2]] : []))

describe('install.sh after a run that stopped', () => {
  it.each([
    ['restart tradetill', 'restart the gateway'],
    ['daemon-reload', 'let systemd read its units'],
    ['reload-or-restart caddy', 'reload Caddy'],
  ])('at `systemctl %s` makes that call, and the run after it does not', (call, step) => {
    const machine = aMachineWithSettings()
    install(machine, unpack(machine, 'tradetill-1'), REQUIRED_OPTIONS)
    const newer = unpack(machine, 'tradetill-2', {
      'deploy/tradetill.service': '# newer\n',
      'deploy/Caddyfile': '# newer\n',
    })
    machine.failNextCall(call)
    // Without `--console`, install.sh would leave out the end of the Caddyfile, where `# newer` is.
    const args = ['--console', 'ops.till.invalid']
    expect(install(machine, newer, args)).toMatchObject({ status: 1 })
    expect(install(machine, newer, ['--check']).output).toContain(`would  ${step}`)
    rmSync(join(machine.root, 'calls'))
    expect(install(machine, newer, [])).toMatchObject({ status: 0 })
    expect(machine.calls()).toContain(`systemctl ${call}`)
    if (call === 'daemon-reload') expect(restarts(machine)).toEqual(['tradetill'])
    rmSync(join(machine.root, 'calls'))
    expect(install(machine, newer, [])).toMatchObject({ status: 0 })
    expect(machine.calls()).not.toContain(`systemctl ${call}`)
  })
})

describe('install.sh with files that the operator wrote', () => {
  const settingsOf = ({ root }: Machine) => join(root, 'etc/tradetill/env')

  it('stops if the settings file lacks a line, and prints the missing line', () => {
    const machine = aMachineWithSettings()
    writeFileSync(settingsOf(machine), 'TRADETILL_PUBLIC_URL=https://pay.till.invalid\n')
    expect(install(machine, unpack(machine, 'tradetill-1'), REQUIRED_OPTIONS)).toMatchObject({
      status: 1,
      errors: expect.stringContaining('env has no line TRADETILL_SUPPORT_EMAIL=ada@till.invalid. Add it'),
    })
  })

  it.each(['"https://pay.till.invalid"', 'https://pay.till.invalid/'])(
    'refuses TRADETILL_PUBLIC_URL=%s in the settings file, and names that file',
    (value) => {
      const machine = aMachineWithSettings()
      writeFileSync(settingsOf(machine), `TRADETILL_PUBLIC_URL=${value}\n`)
      const { status, errors } = install(machine, unpack(machine, 'tradetill-1'), REQUIRED_OPTIONS)
      expect(status).toBe(1)
      expect(errors).toMatch(/tradetill\/env: write TRADETILL_PUBLIC_URL once/)
      expect(errors).not.toContain('--host')
    },
  )

  it('reads who may open the console from the Caddyfile’s first `@stranger` line, and refuses a placeholder there', () => {
    const machine = aMachineWithSettings()
    const file = join(machine.root, 'etc/caddy/Caddyfile')
    const release = unpack(machine, 'tradetill-1')
    const installWith = (lines: string) => {
      writeFileSync(file, lines)
      const { status, errors } = install(machine, release, [
        ...REQUIRED_OPTIONS,
        '--console',
        'ops.till.invalid',
      ])
      return status === 0 ? readFileSync(`${file}.new`, 'utf8') : errors
    }
    const operatorsLines =
      '# @stranger not remote_ip 192.0.2.1\n\t@stranger not remote_ip 198.51.100.7 # the office\n'
    expect(installWith(`${operatorsLines}\t@stranger not remote_ip 203.0.113.0/24\n`)).toContain(
      '\n\t@stranger not remote_ip 198.51.100.7\n',
    )
    expect(installWith('\t@stranger not remote_ip {$OFFICE}\n')).toContain('must be addresses or ranges')
  })
})
