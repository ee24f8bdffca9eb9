/** `npm start` takes no argument except `--help` and `-h`: its settings are variables. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { tryLock } from '../gateway/kit/lock.ts'

function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tradetill-start-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

/** The invalid port keeps every part from starting, even if `args` are not checked. */
function run(args: readonly string[], { dataRoot, folder }: { dataRoot: string; folder: string }) {
  const env = {
    ...process.env,
    TRADETILL_DATA_ROOT: dataRoot,
    TRADETILL_PORT: 'none',
    TRADETILL_MODE: 'sandbox',
  }
  const file = join(import.meta.dirname, 'start.ts')
  return spawnSync(process.execPath, [file, ...args], {
    env,
    cwd: folder,
    encoding: 'utf8',
    timeout: 30_000,
  })
}

function startWith(argument: string) {
  const folder = emptyFolder()
  const dataRoot = join(folder, 'data')
  const { status, stdout, stderr } = run([argument], { dataRoot, folder })
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

it('an empty TRADETILL_DATA_ROOT counts as not set: it does not mean the folder in which npm start runs', async () => {
  const usual = join(import.meta.dirname, '../.data')
  const made = mkdirSync(usual, { recursive: true })
  onTestFinished(() => {
    if (made !== undefined) rmdirSync(made)
  })
  // Undefined if the till of this tree runs, which has the same effect.
  const lock = await tryLock(`start ${realpathSync(usual)}`)
  onTestFinished(() => lock?.release())
  const { stderr } = run([], { dataRoot: '', folder: emptyFolder() })
  expect(stderr).toContain(`already running on ${usual}`)
})
