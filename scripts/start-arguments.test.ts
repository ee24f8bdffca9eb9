/** `npm start` has no arguments: its settings are variables. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'

function startWith(argument: string) {
  const folder = mkdtempSync(join(tmpdir(), 'tradetill-start-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const dataRoot = join(folder, 'data')
  // The invalid port keeps every part from starting, even if the argument is not checked.
  const env = {
    ...process.env,
    TRADETILL_DATA_ROOT: dataRoot,
    TRADETILL_PORT: 'none',
    TRADETILL_MODE: 'sandbox',
  }
  const file = join(import.meta.dirname, 'start.ts')
  const { status, stdout, stderr } = spawnSync(process.execPath, [file, argument], {
    env,
    encoding: 'utf8',
    timeout: 30_000,
  })
  expect(existsSync(dataRoot)).toBe(false)
  return { status, stdout, stderr }
}

it.each(['--help', '-h'])(
  '%s names the settings of the ports and of the folder, and starts nothing',
  (argument) => {
    const { status, stdout } = startWith(argument)
    expect(status).toBe(0)
    for (const setting of [
      'TRADETILL_PORT',
      'STEAM_SANDBOX_PORT',
      'DEMO_STORE_PORT',
      'MARKET_SANDBOX_PORT',
    ]) {
      expect(stdout).toContain(setting)
    }
    expect(stdout).toMatch(/TRADETILL_CONSOLE_PORT +port of the console +4304/)
    expect(stdout).toContain('TRADETILL_DATA_ROOT')
  },
)

it('any other argument is refused, because it would have no effect', () => {
  const { status, stderr } = startWith('--port=4400')
  expect(status).toBe(2)
  expect(stderr).toContain('--port=4400')
  expect(stderr).toContain('npm start -- --help')
})
