/**
 * Finds a Chromium for the browser tests: an installed browser, otherwise Playwright's own download, otherwise the
 * distribution's package. The download and some packages include the headless shell, which is faster because it draws
 * no windows. It has no back/forward cache, so the few tests of that cache run in Chromium.
 */
import { type SpawnOptions, spawn } from 'node:child_process'
import { accessSync, constants, globSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, dirname, join } from 'node:path'
import { chromium } from 'playwright-core'

const COMMANDS = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chrome']
const HEADLESS_SHELLS = ['chromium-headless-shell', 'chrome-headless-shell']

const FIXED_PLACES = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
]

const DOWNLOAD_TIMEOUT_MS = 5 * 60_000
const PACKAGE_TIMEOUT_MS = 8 * 60_000

const APT_INSTALL = ['install', '-y', '--no-install-recommends']

/** Commands that install the distribution's Chromium. The first package manager that exists is used. */
const PACKAGE_MANAGERS = [
  {
    command: 'apt-get',
    prepare: ['update'],
    installs: [
      [...APT_INSTALL, 'chromium', 'chromium-headless-shell'],
      [...APT_INSTALL, 'chromium'],
    ],
  },
  {
    command: 'dnf',
    installs: [
      ['install', '-y', 'chromium', 'chromium-headless'],
      ['install', '-y', 'chromium'],
    ],
  },
  { command: 'apk', installs: [['add', 'chromium']] },
  { command: 'pacman', installs: [['-S', '--noconfirm', 'chromium']] },
]

/** Returns the path of a Chromium, which it installs if there is none. If that fails, throws with advice. */
export async function findChromium(): Promise<string> {
  const found = installedBrowser()
  if (found !== undefined) return found
  console.error('no Chromium is installed: trying Playwright’s own download')
  if (await downloadWithPlaywright()) {
    const downloaded = installedBrowser()
    if (downloaded !== undefined) return downloaded
  }
  console.error('the download did not work: trying the package of this distribution')
  if (await installPackage()) {
    const packaged = installedBrowser()
    if (packaged !== undefined) return packaged
  }
  throw new Error(
    'The browser tests need Chromium and none could be installed. Install it (for example "apt-get install ' +
      'chromium" as root) or set CHROMIUM_PATH to an executable, then run npm test again.',
  )
}

/**
 * Returns the headless shell if there is one, otherwise `browser`. Does not search if CHROMIUM_SHELL_PATH names a
 * shell, or CHROMIUM_PATH a browser.
 */
export function findHeadlessShell(browser: string): string {
  const { CHROMIUM_PATH: named, CHROMIUM_SHELL_PATH: shell } = process.env
  if (shell) return shell
  if (named) return browser
  const onPath = HEADLESS_SHELLS.map(whereIs).find((path) => path !== undefined)
  return onPath ?? globSync(PLAYWRIGHT_SHELLS, { cwd: PLAYWRIGHT_FOLDER }).map(inPlaywright)[0] ?? browser
}

const PLAYWRIGHT_FOLDER = join(chromium.executablePath(), '../../..')
const PLAYWRIGHT_SHELLS = 'chromium_headless_shell-*/*/{chrome-headless-shell,headless_shell}{,.exe}'
const inPlaywright = (path: string): string => join(PLAYWRIGHT_FOLDER, path)

function installedBrowser(): string | undefined {
  const named = process.env.CHROMIUM_PATH
  if (named !== undefined && named !== '') {
    if (!isExecutable(named))
      throw new Error(`CHROMIUM_PATH names ${named}, which is not an executable file.`)
    return named
  }
  const onPath = COMMANDS.map(whereIs).find((path) => path !== undefined)
  return onPath ?? [...FIXED_PLACES, chromium.executablePath()].find(isExecutable)
}

function whereIs(command: string): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter)
  return folders.map((folder) => join(folder, command)).find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function downloadWithPlaywright(): Promise<boolean> {
  const cli = join(dirname(createRequire(import.meta.url).resolve('playwright-core/package.json')), 'cli.js')
  return succeeds(process.execPath, [cli, 'install', 'chromium'], { timeout: DOWNLOAD_TIMEOUT_MS })
}

async function installPackage(): Promise<boolean> {
  const manager = PACKAGE_MANAGERS.find(({ command }) => whereIs(command) !== undefined)
  if (manager === undefined || process.getuid?.() !== 0) {
    console.error('no package can be installed here: that needs root, and apt-get, dnf, apk or pacman')
    return false
  }
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const manage = (args: string[]) => succeeds(manager.command, args, { timeout: PACKAGE_TIMEOUT_MS, env })
  if (manager.prepare !== undefined && !(await manage(manager.prepare))) return false
  for (const install of manager.installs) if (await manage(install)) return true
  return false
}

/** Resolves to whether the command ends with code 0. Does not block, because tests run meanwhile. */
function succeeds(command: string, args: string[], options: SpawnOptions): Promise<boolean> {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'ignore', 'inherit'] })
  return new Promise((resolve) => {
    child.once('error', () => resolve(false))
    child.once('close', (code) => resolve(code === 0))
  })
}
