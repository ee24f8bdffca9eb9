/**
 * Runs `deploy/install.sh` again: from a newer release, after a run that stopped, and with files that the operator
 * changed.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { aMachineWithDatabase, GIVEN, install, type Machine, unpack } from './machine.ts'

describe('without Caddy', () => {
  it('tells once how to set up nginx, and later names what a release changes in its file', () => {
    const machine = aMachineWithDatabase()
    const { root } = machine
    rmSync(join(root, 'bin/caddy'))
    const first = install(machine, unpack(machine, 'tradetill-1'), [...GIVEN, '--without-proxy'])
    expect(first).toMatchObject({ status: 0, said: expect.stringContaining('- set up your own proxy') })
    mkdirSync(join(root, 'etc/nginx/conf.d'), { recursive: true })
    writeFileSync(join(root, 'etc/nginx/conf.d/tradetill.conf'), 'mine\n')
    const newer = unpack(machine, 'tradetill-2', { 'deploy/nginx.conf': '# newer\n' })
    // A run that stops after the link has moved leaves the comparison to the next run.
    machine.failsOnce('restart tradetill')
    expect(install(machine, newer, [])).toMatchObject({ status: 1 })
    const { status, said } = install(machine, newer, [])
    expect(status).toBe(0)
    expect(said).toMatch(/- make the changes of this release in .*: diff .*tradetill-1\/deploy\/nginx\.conf/)
    expect(install(machine, newer, []).said).not.toContain('Left for you')
  })

  it('remembers a proxy of another kind', () => {
    const machine = aMachineWithDatabase()
    rmSync(join(machine.root, 'bin/caddy'))
    expect(install(machine, unpack(machine, 'tradetill-1'), [...GIVEN, '--without-proxy'])).toMatchObject({
      status: 0,
    })
    const { status, said } = install(machine, unpack(machine, 'tradetill-2'), [])
    expect({ status, asks: said.includes('Left for you') }).toEqual({ status: 0, asks: false })
    expect(machine.calls().join('\n')).not.toMatch(/apt-get|caddy/)
    expect(existsSync(join(machine.root, 'etc/caddy/Caddyfile'))).toBe(false)
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

  it.each([
    ['the backup', 'start tradetill-backup', '', 1],
    ['the dry run of the migrations', '', 'exit 4\n', 4],
  ])('leaves the running version alone if %s fails', (_, failingCall, command, status) => {
    const machine = aMachineWithDatabase()
    const older = unpack(machine, 'tradetill-1')
    install(machine, older, GIVEN)
    const newer = unpack(machine, 'tradetill-2', { 'bin/tradetill': command })
    if (failingCall !== '') machine.failsOnce(failingCall)
    rmSync(join(machine.root, 'calls'))
    expect(install(machine, newer, [])).toMatchObject({
      status,
      complained: expect.stringContaining('Stopped'),
    })
    expect(execFileSync('readlink', [join(machine.root, 'opt/tradetill')], { encoding: 'utf8' }).trim()).toBe(
      older,
    )
    expect(machine.calls()).not.toContain('systemctl restart tradetill')
  })

  it('restarts the vault and the receiver of alerts, if they run', () => {
    const machine = aMachineWithDatabase()
    const units = ['tradetill-vault', 'tradetill-alerts']
    for (const unit of units) {
      const file = `etc/systemd/system/${unit}.service`
      cpSync(join(import.meta.dirname, '../../deploy', `${unit}.service`), join(machine.root, file))
      writeFileSync(join(machine.root, `runs-${unit}`), '')
    }
    install(machine, unpack(machine, 'tradetill-1'), GIVEN)
    rmSync(join(machine.root, 'calls'))
    expect(install(machine, unpack(machine, 'tradetill-2'), [])).toMatchObject({ status: 0 })
    expect(restarts(machine)).toEqual(['tradetill', ...units])
    const newer = unpack(machine, 'tradetill-3', { 'deploy/tradetill-alerts.service': '# newer\n' })
    machine.failsOnce('restart tradetill')
    expect(install(machine, newer, [])).toMatchObject({ status: 1 })
    rmSync(join(machine.root, 'calls'))
    expect(install(machine, newer, [])).toMatchObject({ status: 0 })
    expect(restarts(machine)).toEqual(['tradetill', ...units])
  })
})

/** The units that were restarted. */
const restarts = ({ calls }: Machine) =>
  calls().flatMap((call) => (call.startsWith('systemctl restart ') ? [call.split(' ')[2]] : []))

describe('after a run that stopped', () => {
  it.each([
    ['restart tradetill', 'restart the gateway'],
    ['daemon-reload', 'let systemd read its units'],
    ['reload-or-restart caddy', 'reload Caddy'],
  ])('at %s, the next run does it, and the one after that does not', (call, said) => {
    const machine = aMachineWithDatabase()
    install(machine, unpack(machine, 'tradetill-1'), GIVEN)
    const newer = unpack(machine, 'tradetill-2', {
      'deploy/tradetill.service': '# newer\n',
      'deploy/Caddyfile': '# newer\n',
    })
    machine.failsOnce(call)
    // Without a console, the end of the proxy's file is cut off.
    const args = ['--console', 'ops.till.invalid']
    expect(install(machine, newer, args)).toMatchObject({ status: 1 })
    expect(install(machine, newer, ['--check']).said).toContain(`would  ${said}`)
    rmSync(join(machine.root, 'calls'))
    expect(install(machine, newer, [])).toMatchObject({ status: 0 })
    expect(machine.calls()).toContain(`systemctl ${call}`)
    if (call === 'daemon-reload') expect(restarts(machine)).toEqual(['tradetill'])
    rmSync(join(machine.root, 'calls'))
    expect(install(machine, newer, [])).toMatchObject({ status: 0 })
    expect(machine.calls()).not.toContain(`systemctl ${call}`)
  })
})

describe('beside what the operator wrote', () => {
  const settingsOf = ({ root }: Machine) => join(root, 'etc/tradetill/env')

  it('stops if the settings file lacks a line, and names it', () => {
    const machine = aMachineWithDatabase()
    writeFileSync(settingsOf(machine), 'TRADETILL_PUBLIC_URL=https://pay.till.invalid\n')
    expect(install(machine, unpack(machine, 'tradetill-1'), GIVEN)).toMatchObject({
      status: 1,
      complained: expect.stringContaining('env has no line TRADETILL_SUPPORT_EMAIL=ada@till.invalid. Add it'),
    })
  })

  it.each(['"https://pay.till.invalid"', 'https://pay.till.invalid/'])(
    'names the settings file if it has %s',
    (value) => {
      const machine = aMachineWithDatabase()
      writeFileSync(settingsOf(machine), `TRADETILL_PUBLIC_URL=${value}\n`)
      const { status, complained } = install(machine, unpack(machine, 'tradetill-1'), GIVEN)
      expect(status).toBe(1)
      expect(complained).toMatch(/tradetill\/env: write TRADETILL_PUBLIC_URL once/)
      expect(complained).not.toContain('--host')
    },
  )

  it('takes the addresses of the console from the first line of its kind, and no comment', () => {
    const machine = aMachineWithDatabase()
    const file = join(machine.root, 'etc/caddy/Caddyfile')
    const release = unpack(machine, 'tradetill-1')
    const written = (lines: string) => {
      writeFileSync(file, lines)
      const { status, complained } = install(machine, release, [...GIVEN, '--console', 'ops.till.invalid'])
      return status === 0 ? readFileSync(`${file}.new`, 'utf8') : complained
    }
    const mine = '# @stranger not remote_ip 192.0.2.1\n\t@stranger not remote_ip 198.51.100.7 # the office\n'
    expect(written(`${mine}\t@stranger not remote_ip 203.0.113.0/24\n`)).toContain(
      '\n\t@stranger not remote_ip 198.51.100.7\n',
    )
    expect(written('\t@stranger not remote_ip {$OFFICE}\n')).toContain('must be addresses or ranges')
  })
})
